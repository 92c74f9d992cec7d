// cspell:ignore errmsg faultstring endobj

/* Responses of essay services, and the essays in them. */

export const description =
  'The history of fountain pens, and why children in many countries still learn to write with them.';
export const first =
  'Fountain pens carry ink in a reservoir behind the nib. They replaced the quill, which had to be dipped.';
export const second =
  'Schools kept them because they reward a light hand. Children learn to slow down, and to form each letter.';
const third = 'A pen that lasts a lifetime is rarely a luxury. It is a tool that its owner has learned to trust.';
export const essay = `${first} ${second} ${third}`;
const all = [first, second, third].join('\n\n');
const html =
  '<!doctype html><html><body><h1>502 Bad Gateway</h1><p>The server is overloaded. Please wait.</p></body></html>';
export const trace =
  'Traceback (most recent call last): File "/srv/app/writer/views.py", line 88, in generate. KeyError: the model is not loaded.';

/* Name, status, body (an object is sent as JSON), and the essay in it; null: there is none. */
export const rows: [string, number, unknown, string | null][] = [
  // Fields with well-known names.
  ['essay', 200, { essay }, essay],
  ['result', 200, { result: essay }, essay],
  ['text', 200, { text: essay }, essay],
  ['content', 200, { content: essay }, essay],
  ['essay_text', 200, { essay_text: essay }, essay],
  ['generated_essay', 200, { generated_essay: essay }, essay],
  ['201', 201, { essay }, essay],
  ['data', 200, { data: essay }, essay],
  ['data.essay', 200, { data: { essay } }, essay],
  ['data.text', 200, { data: { text: essay, id: 7 } }, essay],
  ['essay.content', 200, { essay: { title: 'Pens', content: essay } }, essay],
  ['result.text', 200, { result: { text: essay } }, essay],
  ['response.content', 200, { response: { content: essay } }, essay],
  ['a bare text', 200, JSON.stringify(essay), essay],
  ['an essay beside what succeeded', 200, { success: true, message: 'Essay generated.', essay }, essay],
  ['an essay beside empty errors', 200, { error: null, errors: [], essay }, essay],
  ['an essay beside good states', 200, { status: 'success', code: 200, essay }, essay],
  ['an essay beside counts', 200, { essay, word_count: 60, usage: { requests: 12, remaining: 88 } }, essay],
  ['an essay beside its writer', 200, { essay, word_count: 60, writer: 'drafter' }, essay],
  ['an essay beside what was sent', 200, { description, mode: 'Standard', essay }, essay],
  [
    'an essay about failing and quotas',
    200,
    { essay: `${essay} ${essay} ${essay} A quota is exceeded.` },
    `${essay} ${essay} ${essay} A quota is exceeded.`,
  ],
  ['the first known field that is not empty', 200, { essay: ' ', text: essay }, essay],
  // The only prose.
  ['output', 200, { output: essay }, essay],
  ['answer.body', 200, { answer: { body: essay, language: 'en' } }, essay],
  ['choices', 200, { choices: [{ message_text: essay }] }, essay],
  ['output beside an echo', 200, { prompt: description, output: essay }, essay],
  ['output beside a title', 200, { title: 'On pens', output: essay }, essay],
  ['plain text', 200, essay, essay],
  ['plain text in paragraphs', 200, all, all],
  ['output beside a word in a known field', 200, { result: 'success', content: 'text/plain', output: essay }, essay],
  ['output beside a short message', 200, { message: 'OK', output: essay }, essay],
  [
    'output beside no error',
    200,
    { error: 'none', error_code: '0', status: 'processing_complete', output: essay },
    essay,
  ],
  ['Chinese of 150 words', 200, { output: '钢笔'.repeat(160).concat('。') }, '钢笔'.repeat(160).concat('。')],
  ['Chinese plain text', 200, '钢笔在笔尖后面储存墨水。'.repeat(30), '钢笔在笔尖后面储存墨水。'.repeat(30)],
  // Envelopes of well-known services.
  ['JSend', 200, { status: 'success', data: { essay } }, essay],
  ['JSON:API', 200, { data: { type: 'essays', id: '1', attributes: { content: essay } } }, essay],
  ['JSON-RPC', 200, { jsonrpc: '2.0', result: essay, id: 1 }, essay],
  ['Cloudflare', 200, { success: true, errors: [], messages: [], result: { response: essay } }, essay],
  ['AWS Lambda', 200, { statusCode: 200, headers: {}, body: JSON.stringify({ essay }) }, essay],
  [
    'chat completions',
    200,
    {
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content: essay, refusal: null }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 9, completion_tokens: 80 },
    },
    essay,
  ],
  [
    'responses with reasoning',
    200,
    {
      status: 'completed',
      error: null,
      incomplete_details: null,
      output: [
        { type: 'reasoning', summary: [{ type: 'summary_text', text: `${third} ${second} ${first}` }] },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: essay, annotations: [] }] },
      ],
    },
    essay,
  ],
  [
    'messages with thinking',
    200,
    {
      type: 'message',
      content: [
        { type: 'thinking', thinking: `${third} ${second} ${first}` },
        { type: 'text', text: essay },
      ],
      stop_reason: 'end_turn',
    },
    essay,
  ],
  [
    'candidates with a thought',
    200,
    {
      candidates: [
        { content: { parts: [{ text: `${third} ${second}`, thought: true }, { text: essay }] }, finishReason: 'STOP' },
      ],
    },
    essay,
  ],
  [
    'a finished prediction',
    200,
    { status: 'succeeded', urls: { get: 'https://x' }, output: [essay], error: null },
    essay,
  ],
  ['generated_text', 200, [{ generated_text: essay }], essay],
  ['done', 200, { model: 'm', response: essay, done: true, done_reason: 'stop' }, essay],
  ['base_resp', 200, { reply: essay, base_resp: { status_code: 0, status_msg: 'success' } }, essay],
  ['errno', 200, { errno: 0, errmsg: 'success', data: { essay } }, essay],
  [
    'a finished task',
    200,
    { code: 200, msg: '操作成功', data: { task_id: '1', task_status: 'SUCCESS', choices: [{ content: essay }] } },
    essay,
  ],
  ['a code of five digits', 200, { code: 20000, message: 'success', data: { essay } }, essay],
  ['nested objects', 200, { data: { result: { output: { text: essay } } } }, essay],
  ['names in capitals', 200, { Data: { Essay: essay, Summary: `${first} ${second}` } }, essay],
  // Beside other texts.
  ['an essay and its summary', 200, { essay, summary: `${first} ${second}` }, essay],
  ['an essay and its HTML', 200, { plain: essay, html: `<p>${first}</p> <p>${second}</p> <p>${third}</p>` }, essay],
  [
    'an essay and the prompt of the service',
    200,
    { prompt: `You write essays. ${third} ${second} Topic: ${description}`, output: essay },
    essay,
  ],
  [
    'an essay in a conversation',
    200,
    {
      conversation: [
        { role: 'user', content: `Write about pens. ${third} ${second} ${first}` },
        { role: 'assistant', content: essay },
      ],
    },
    essay,
  ],
  [
    'an essay and a friendly message',
    200,
    { message: 'Your essay has been generated successfully, and saved to your account.', output: essay },
    essay,
  ],
  [
    'an essay and an offer',
    200,
    { essay, notice: 'Upgrade to Pro for longer essays.', info: '97 of 100 requests left.' },
    essay,
  ],
  ['an essay and an error that is empty', 200, { error: { code: 0, message: '' }, essay }, essay],
  // A text that is JSON.
  ['JSON in JSON', 200, JSON.stringify(JSON.stringify({ essay })), essay],
  ['JSON in a known field', 200, { essay: JSON.stringify({ title: 'On pens', essay }) }, essay],
  ['JSON in a fence', 200, { text: `\`\`\`json\n${JSON.stringify({ essay })}\n\`\`\`` }, essay],
  ['an error in JSON in JSON', 200, { result: JSON.stringify({ error: `${first} ${second}`, code: 529 }) }, null],
  ['an essay with a failed status around', 200, { statusCode: 500, body: JSON.stringify({ essay }) }, null],
  // Forms of an essay.
  [
    'Markdown',
    200,
    `# On pens\n\n${first}\n\n## Schools\n\n${second}`,
    `# On pens\n\n${first}\n\n## Schools\n\n${second}`,
  ],
  ['HTML', 200, { essay: `<h1>On pens</h1><p>${essay}</p>` }, `On pens\n\n${essay}`],
  ['HTML with entities', 200, { essay: `<p>Pens &amp; ink&#46;<br>${essay}</p>` }, `Pens & ink.\n${essay}`],
  ['a tag in a text', 200, { essay: `<b>On pens</b>\n\n${essay}` }, `<b>On pens</b>\n\n${essay}`],
  ['XML', 200, `<?xml version="1.0"?><r><ok>1</ok><essay lang="en">${all}</essay></r>`, all],
  ['a title in brackets', 200, `[On Pens]\n\n${all}`, `[On Pens]\n\n${all}`],
  [
    'a title with an error',
    200,
    { essay: `Error 404: on pens\n\n${essay} ${essay}` },
    `Error 404: on pens\n\n${essay} ${essay}`,
  ],
  ['a title with a trace', 200, { essay: `Stack traces: on pens\n\n${essay}` }, `Stack traces: on pens\n\n${essay}`],
  ['a title with a field', 200, { output: `Data: on pens\n\n${essay}` }, `Data: on pens\n\n${essay}`],
  ['what was sent, and an essay', 200, { output: `${description}\n\n${essay}` }, `${description}\n\n${essay}`],
  // Sections.
  ['named sections', 200, { introduction: first, body: second, conclusion: third }, all],
  [
    'named sections and a title',
    200,
    { title: 'On pens', introduction: first, body: second, conclusion: third },
    `On pens\n\n${all}`,
  ],
  ['numbered sections', 200, { section_1: first, section_2: second, section_3: third }, all],
  ['a list of paragraphs', 200, { paragraphs: [first, second, third] }, all],
  [
    'a list of sections with headings',
    200,
    {
      sections: [
        { heading: 'Past', text: first },
        { heading: 'Now', text: `${second} ${third}` },
      ],
    },
    `Past\n\n${first}\n\nNow\n\n${second} ${third}`,
  ],
  [
    'sections with a list of paragraphs',
    200,
    { introduction: first, body_paragraphs: [second], conclusion: third },
    all,
  ],
  ['sections of which one has an unknown name', 200, { introduction: first, middle: second, conclusion: third }, all],
  ['sections in data', 200, { data: { intro: first, body: [second], conclusion: third } }, all],
  ['a bare list of paragraphs', 200, [first, second, third], all],
  ['a list of paragraphs in a known field', 200, { content: [first, second, third] }, all],
  ['sections around a known field', 200, { introduction: first, content: second, conclusion: third }, all],
  ['sections in capitals', 200, { Introduction: first, Body1: second, Body2: '', Conclusion: third }, all],
  [
    'sections with paragraphs',
    200,
    {
      essay: {
        title: 'On pens',
        sections: [
          { heading: 'Past', paragraphs: [first, second] },
          { heading: 'Now', paragraphs: [third] },
        ],
      },
    },
    `On pens\n\nPast\n\n${first}\n\n${second}\n\nNow\n\n${third}`,
  ],
  ['sections beside the whole essay', 200, { introduction: first, text: all, conclusion: third }, all],
  [
    'sections and a message',
    200,
    { intro: first, body: second, conclusion: third, message: 'Here is your essay, as you ordered it.' },
    all,
  ],
  [
    'sections and references',
    200,
    {
      essay: { introduction: first, body: second, conclusion: third },
      references: ['Doe, J. (2019). A history of pens. London: The Ink Press.'],
      disclaimer: 'This text was written by a machine. Check it before you use it.',
    },
    all,
  ],
  ['an essay and feedback', 200, { output: essay, feedback: `${third} ${second} ${first}` }, essay],
  ['drafts in a list', 200, { drafts: [{ essay }, { essay: `${third} ${second} ${first}` }] }, essay],
  [
    'long drafts in a list of texts',
    200,
    { data: [`${essay} ${first} `.repeat(4), `${third} ${second} ${first} ${third} `.repeat(3)] },
    `${essay} ${first} `.repeat(4),
  ],
  // Messages of a service that did not write.
  [
    'an exceeded quota',
    200,
    { success: false, message: 'Monthly quota exceeded. Upgrade your plan to continue.' },
    null,
  ],
  ['an exceeded quota, as a success', 200, { message: 'You have exceeded your monthly limit of 100 requests.' }, null],
  ['an exceeded quota in a known field', 200, { result: 'Your monthly request limit has been reached.' }, null],
  ['unauthenticated', 200, { message: 'Unauthenticated.' }, null],
  ['not authenticated', 200, { detail: 'Not authenticated.' }, null],
  ['an invalid token', 200, { text: 'Invalid token.' }, null],
  ['a missing key', 200, { content: 'No API key found in request' }, null],
  ['an error', 200, { error: 'The model is overloaded.' }, null],
  ['a message beside a writer', 200, { message: 'Unauthenticated.', writer: 'model' }, null],
  ['a writer alone', 200, { writer: essay.slice(0, 30) }, null],
  [
    'words in known fields',
    200,
    { result: 'done', text: 'null', content: '4f1c2c1e-8a52-4c1e-9d1b-2f6f0d7c1a11' },
    null,
  ],
  ['a limit of the provider', 200, { text: 'Billing hard limit has been reached' }, null],
  ['too many attempts', 200, { content: 'Too Many Attempts.' }, null],
  ['objects in place of flags', 200, { success: { toString: 1 }, text: essay }, essay],
  ['status: false', 200, { status: false, text: essay }, null],
  ['a filtered answer', 200, { finish_reason: 'content_filter', text: essay }, null],
  ['JSON that is cut off', 200, `{"essay":"${essay}`, null],
  ['a text and thousands of numbers', 200, { context: Array.from({ length: 5_000 }, (_, id) => id), essay }, essay],
  ['an error beside an essay', 200, { error: 'The model is overloaded.', essay }, null],
  ['errors by field', 200, { errors: { description: ['The description is required.'] } }, null],
  ['a failed state', 200, { status: 'failed', essay }, null],
  ['a failed code', 200, { code: 500, text: essay }, null],
  ['a failed code, as a text', 200, { statusCode: '429', text: essay }, null],
  ['success: "false"', 200, { success: 'false', essay }, null],
  ['ok: 0', 200, { ok: 0, essay }, null],
  ['a long explanation', 200, { message: `${first} ${second} ${third}` }, null],
  ['a long reason beside nothing', 200, { reason: essay, output: null }, null],
  ['an exception with the path of a file', 200, { exception: trace }, null],
  ['a trace in a known field', 200, { result: trace }, null],
  ['a task', 202, { task: 'a81f', status: 'queued' }, null],
  ['a task that has a text', 200, { task_id: 'a81f', text: essay }, essay],
  ['an accepted order with a text', 202, { essay }, null],
  ['no content', 204, '', null],
  ['a part', 206, { essay }, null],
  ['an echo in the only field', 200, { output: description }, null],
  ['an echo in a known field', 200, { text: description.toUpperCase() }, null],
  ['an echo and a shorter text', 200, { description, output: 'The history of fountain pens.' }, null],
  ['an echo with a prefix', 200, { output: `Write about: ${description}` }, null],
  ['the words of the order only', 200, { topic: description, mode: 'Standard', word_count: 300 }, null],
  ['two texts in unknown fields', 200, { one: essay, other: `${third} ${second} ${first}` }, null],
  ['a draft and another text', 200, { draft: essay, other: `${third} ${second} ${first}` }, essay],
  [
    'words without sentences',
    200,
    {
      words:
        'pens ink nib paper school children letters hand light slow form quill dip wood steel gold cap clip barrel feed slit point line page book desk lamp shelf box case bag',
    },
    null,
  ],
  ['too few words', 200, { output: 'Pens hold ink. They write.' }, null],
  ['identifiers only', 200, { id: 'a81f', created_at: '2026-11-25T12:00:00Z' }, null],
  ['an empty object', 200, {}, null],
  ['null', 200, 'null', null],
  ['a number', 200, '7', null],
  ['an empty essay', 200, { essay: '' }, null],
  ['HTML', 200, html, null],
  ['HTML in a field', 200, { output: '<p>Pens</p>' }, null],
  ['an empty body', 200, '', null],
  ['plain text of a failure', 200, 'Internal Server Error. Please try again later.', null],
  ['an essay with 400', 400, { essay }, null],
  ['an essay with 500', 500, { essay }, null],
  ['an essay with 302', 302, { essay }, null],
  // Of gateways, frameworks and providers.
  ['Kong', 200, { message: 'API rate limit exceeded' }, null],
  [
    'Apigee',
    200,
    { fault: { faultstring: 'Rate limit quota violation.', detail: { errorcode: 'policies.ratelimit' } } },
    null,
  ],
  ['RapidAPI', 200, { text: 'You are not subscribed to this API.' }, null],
  ['Lambda', 200, { errorType: 'Runtime.ExitError', errorMessage: 'Error: Runtime exited', text: essay }, null],
  ['Django', 200, { result: 'Request was throttled. Expected available in 3000 seconds.' }, null],
  [
    'Laravel',
    200,
    { message: 'SQLSTATE[HY000] [2002] Connection refused', exception: 'PDOException', trace: [] },
    null,
  ],
  ['problem details', 200, { type: 'about:blank', title: 'Unavailable', detail: `${first} ${second} ${third}` }, null],
  ['a failed JSON-RPC', 200, { jsonrpc: '2.0', error: { code: -32000, message: 'x' }, id: 1, text: essay }, null],
  ['a code below zero', 200, { code: -1, text: essay }, null],
  ['a code of five digits that failed', 200, { code: 40001, text: essay }, null],
  ['Ack', 200, { Ack: 'Failure', Text: essay }, null],
  ['isValid', 200, { isValid: false, text: essay }, null],
  ['a prediction that starts', 200, { id: 'x', status: 'starting', output: essay }, null],
  ['a task that is processed', 200, { task_id: '1', task_status: 'PROCESSING', text: essay }, null],
  ['a refusal in a field', 200, { choices: [{ message: { content: null, refusal: essay } }] }, null],
  ['SAFETY', 200, { candidates: [{ content: { parts: [{ text: essay }] }, finishReason: 'SAFETY' }] }, null],
  ['a flagged text', 200, { flagged: true, text: essay }, null],
  ['only reasoning', 200, { choices: [{ message: { content: null, reasoning_content: essay } }] }, null],
  ['only thinking', 200, { content: [{ type: 'thinking', thinking: essay }] }, null],
  ['two choices', 200, { choices: [{ text: essay }, { text: `${third} ${second} ${first}` }] }, essay],
  // Notes about the order, in fields for the essay.
  ['a queued order', 200, { essay: 'Processing...' }, null],
  ['an order that is written', 200, { essay: 'Your essay is being written. You will receive it by email.' }, null],
  [
    'a long note',
    200,
    {
      result:
        'Thank you for your order. Our writers have received it and will begin work shortly. You will be notified by e-mail as soon as the essay is ready, which usually takes between two and five minutes. You can also see the state of the order in your dashboard.',
    },
    null,
  ],
  [
    'a long apology',
    200,
    {
      text: 'We are currently experiencing high demand. Our engineers expect the service to be back to normal within the next hour. In the meantime, your request could not be processed and was not charged to your account. We apologize for the inconvenience and thank you for your patience.',
    },
    null,
  ],
  ['a short essay for a long order', 200, { essay: 'Pens hold ink. They write.' }, null],
  ['signs without words', 200, { essay: '... '.repeat(60) }, null],
  ['a limit of the model', 200, { result: `Error code: 429 - {'error': {'message': 'Rate limit reached'}}` }, null],
  [
    'a question',
    200,
    { essay: 'Could you please provide more details about the essay you would like, and its audience?' },
    null,
  ],
  ['an address', 200, { essay: 'https://files.example/essays/1.txt' }, null],
  ['a placeholder', 200, { essay: '{{essay}}' }, null],
  ['encoded', 200, { essay: Buffer.from(essay).toString('base64') }, null],
  // Refusals of language models.
  ['a refusal', 200, { essay: "I'm sorry, but I can't assist with that request." }, null],
  [
    'a long refusal',
    200,
    {
      essay:
        'I apologize, but I’m not able to write that essay. It asks for content that could mislead people about schools and the tools that they use. If you like, I could instead describe how schools choose their pens, and how a parent can ask for others. Please tell me how you would like to proceed.',
    },
    null,
  ],
  ['a moderated description', 200, { text: 'Your request was rejected as a result of our safety system.' }, null],
  // cspell:disable
  // In other languages, whose messages are shorter than an essay, too.
  ['German', 200, { result: 'Ein Fehler ist aufgetreten. Bitte versuchen Sie es später erneut.' }, null],
  [
    'French',
    200,
    { content: 'Quota mensuel dépassé. Veuillez mettre à niveau votre abonnement pour continuer.' },
    null,
  ],
  ['Spanish', 200, { text: 'Ha superado el límite mensual de solicitudes. Inténtelo de nuevo más tarde.' }, null],
  ['Russian', 200, { text: 'Произошла ошибка. Попробуйте позже.' }, null],
  ['Chinese, a message', 200, { text: '很抱歉，您的请求包含敏感内容，无法生成文章。请修改描述后重试。' }, null],
  ['Japanese', 200, { text: 'エラーが発生しました。しばらくしてからもう一度お試しください。' }, null],
  ['Arabic', 200, { result: 'حدث خطأ غير متوقع. يرجى المحاولة مرة أخرى لاحقًا.' }, null],
  [
    'German, in plain text',
    200,
    'Ihr monatliches Kontingent ist erschöpft. Bitte wechseln Sie in einen höheren Tarif, um weitere Aufsätze zu bestellen, oder warten Sie bis zum Ersten des nächsten Monats.',
    null,
  ],
  // cspell:enable
  // Documents, traces and streams.
  ['a page in a known field', 200, { result: html.replace('</p>', ` ${essay}</p>`) }, null],
  ['a page around an essay', 200, `<!DOCTYPE html><html><body>${essay}</body></html>`, essay],
  [
    'a trace of Java',
    200,
    { text: `java.lang.NullPointerException: ${second}\n\tat com.example.Essay.write(Essay.java:12)\n${essay}` },
    null,
  ],
  ['a trace of PHP', 200, `PHP Fatal error:  Uncaught Exception: ${essay} in /var/www/html/db.php:33`, null],
  [
    'events',
    200,
    `: ping\n\ndata: {"text":"${first} "}\n\ndata:\n\ndata: {"text":"${second} ${third}"}\n\ndata: [DONE]\n\n`,
    essay,
  ],
  ['events with an error at the end', 200, `data: {"text":"${essay}"}\n\ndata: {"error":"overloaded"}\n\n`, null],
  ['lines of JSON', 200, `{"text":"${first} "}\n{"text":"${second} ${third}"}`, essay],
  ['lines of JSON that are cut off', 200, `{"text":"${essay} "}\n{"text":"${second}`, null],
  [
    'lines that repeat the text so far',
    200,
    [first, `${first} ${second}`, essay].map((text) => JSON.stringify({ text })).join('\n'),
    essay,
  ],
  ['parts of a sentence', 200, { parts: [{ text: essay.slice(0, 70) }, { text: essay.slice(70) }] }, essay],
  ['tokens', 200, { output: essay.split(/(?<= )/) }, essay],
  ['fields in lines', 200, `status: error\nmessage: ${essay}`, null],
  ['a PDF', 200, `%PDF-1.7\n1 0 obj ${essay} endobj`, null],
  ['an upstream without a backend', 200, 'upstream connect error or disconnect/reset before headers.', null],
  // Echoes.
  [
    'an echo in a sentence',
    200,
    { output: `You asked for: "${description}" We will write it, and send it to you.` },
    null,
  ],
  ['an echo twice', 200, { output: `${description} ${description}` }, null],
  ['an echo as JSON', 200, { output: JSON.stringify({ description, mode: 'Standard', word_count: 300 }) }, null],
  ['an echo in HTML', 200, { output: `<p>${description}</p>` }, null],
  [
    'an echo in instructions',
    200,
    {
      output: `You are an essay writer. Topic: ${description} Do not mention that you are a model. Answer with the essay alone.`,
    },
    null,
  ],
];
