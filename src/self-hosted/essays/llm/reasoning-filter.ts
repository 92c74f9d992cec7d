interface ReasoningFilter {
  push(piece: string): void;
  /** The text so far, without reasoning. The last few characters may be missing until they cannot be part of a tag. */
  text(): string;
  /** Ends the stream and returns the whole text. */
  finish(): string;
}

/** Removes `<think>...</think>` blocks from a stream; some local models write them into their answer. */
export function createReasoningFilter(): ReasoningFilter {
  let visible = '';
  let pending = '';
  let isReasoning = false;

  return {
    push(piece) {
      pending += piece;
      while (consumeTag());
      const settled = Math.max(0, pending.length - heldLength);
      if (!isReasoning) visible += pending.slice(0, settled);
      pending = pending.slice(settled);
    },
    text: () => visible,
    finish() {
      if (!isReasoning) visible += pending;
      pending = '';
      return visible;
    },
  };

  /** Consumes the text up to and including the first tag; false if there is none. */
  function consumeTag(): boolean {
    const end = closing.exec(pending);
    const start = isReasoning ? null : opening.exec(pending);
    const tag = start && (!end || start.index < end.index) ? start : end;
    if (!tag) return false;
    // If the prompt template contains the opening tag, the stream has only the closing one: all text before it is reasoning.
    if (tag === start) visible += pending.slice(0, tag.index);
    else if (!isReasoning) visible = '';
    isReasoning = tag === start;
    pending = pending.slice(tag.index + tag[0].length);
    return true;
  }
}

const opening = /<think(?:ing)?>/i;
const closing = /<\/think(?:ing)?>/i;
/** The end of the text may be an incomplete tag: one character less than the longest tag. */
const heldLength = '</thinking>'.length - 1;
