interface StrippedRequest {
  text: string;
  /** Whether something was removed, so that the text is a phrase and not a sentence. */
  isRequest: boolean;
}

/** Removes the request from a sentence: "Please write a short essay about bees" becomes "bees". */
export function stripRequest(sentence: string): StrippedRequest {
  let text = sentence;
  for (const pattern of [politeness, politeness, foreignOrder, order, bareOrder, verb, label]) {
    const rest = text.replace(pattern, '');
    if (rest.trim() !== '') text = rest;
  }
  return { text: text.trim(), isRequest: text !== sentence };
}

/** The points in a sentence such as "Cover a, b and c."; null for other sentences. */
export function readPointsRequest(sentence: string): string | null {
  for (const pattern of [pointsLabel, pointsVerb]) {
    const match = pattern.exec(sentence);
    if (match) return sentence.slice(match[0].length).trim();
  }
  return null;
}

/** Whether a sentence is about how to write ("Keep the tone formal.") or only announces a list. */
export function isInstruction(sentence: string): boolean {
  const request = sentence.replace(politeness, '').replace(politeness, '');
  if (sentence.length >= 200 || order.test(request) || verb.test(request)) return false;
  return styleRequest.test(sentence) || announcement.test(sentence);
}

const politeness =
  /^(?:hi|hello|hey|please|kindly|can you|could you|would you|i(?:['’]d| would) like(?: you)?(?: to)?|i (?:need|want)(?: you)?(?: to)?|help me(?: to)?|let['’]s)[\s,!]+/i;
const order =
  /^(?:write|draft|compose|generate|create|produce|prepare|give|make|an?)\b(?: (?:me|us))?(?: (?:an?|the|some|my|our|one))?(?: [\p{L}\p{N}-]+,?){0,4}? ?\b(?:essay|article|report|paper|piece|text|post|story|overview|speech|analysis|summary|draft)s?(?: (?:of|in) (?:about )?\d+ words)?(?: (?:that|which|to))?[ ,:]+(?:about|on|regarding|concerning|covering|of|for|discuss(?:es|ing)?|describ(?:es?|ing)|explain(?:s|ing)?|explor(?:es?|ing)|argu(?:es|ing)? (?:that|for|against)|examin(?:es?|ing)|entitled|titled|called)[ :]+/iu;
const bareOrder = /^(?:[\p{L}-]+ )?(?:essay|article|report|paper|text) (?:about|on|regarding|concerning)[ :]+/iu;
const verb =
  /^(?:write|talk|tell (?:me|us)|report|reflect|speak)(?: something)? (?:about|on) |^(?:discuss|explain|describe|explore|analy[sz]e|examine|compare|contrast|outline|consider|evaluate|assess|summari[sz]e|present|review|investigate|argue (?:that|for|against|why)|show|define)(?: and (?:discuss|explain|describe|evaluate|contrast|compare|assess))? (?:to (?:me|us) )?/i;
const label = /^(?:(?:essay )?(?:topic|subject|theme|title)|about|on)(?: is)? ?: ?|^(?:about|on) /i;
const foreignOrder =
  /^(?:écri(?:s|vez|re)|rédige[rz]?|schreibe?n?(?: sie)?|escrib[ea]|escribir|scriv[ia]|escrev[ae]) (?:una?|une|eine?n?|um|uma) [\p{L}]+ (?:sur|über|zu[mr]?|sobre|su|sul|sulla|acerca de) /iu;

const styleRequest =
  /^(?:please )?(?:it (?:should|must) be|keep|use|avoid|write|make|ensure|aim|format|cite|do not|don['’]t|be|add|no|the (?:essay|text|tone|style)|tone|style|length|language|audience|at most|maximum|max|about|around|approximately)\b.*\b(?:tone|style|words?|jargon|sentences?|paragraphs?|essay|text|readers?|audience|headings?|language|simple|clear|formal|short|sources?|citations?|funny|professional|academic)\b/i;
/** "Cover these points:" only announces a list. */
const announcement =
  /^(?:\p{L}+ ){0,6}(?:the )?(?:following|these|those|key|main)? ?(?:points?|topics?|aspects?|questions?|items?|things?|ideas?|arguments?)(?: (?:below|in turn|to (?:cover|include|discuss|address|mention)))?[:.]?$/iu;
const pointsLabel =
  /^(?:(?:key|main|the)? ?(?:points?|topics?|aspects?|arguments?|sections?|ideas?)(?: (?:are|to (?:cover|include|discuss|address|mention|make)))?|cover|include|mention|address|discuss|outline) ?: ?/i;
const pointsVerb =
  /^(?:(?:please|also|then|and|finally|next|it should|the (?:essay|text|paper) should|(?:make|be) sure to|you should|i want you to|it must|must|should) )*(?:cover|discuss|mention|include|address|touch on|talk about|write about|explain|describe|compare|consider|explore|focus on|look at|analy[sz]e|examine|outline|deal with|show)\b(?: (?:also|both|things like|points like|the following(?: \p{L}+)?:?))? ?/iu;
