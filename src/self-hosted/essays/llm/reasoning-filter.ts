const opening = /<think(?:ing)?>/i;
const closing = /<\/think(?:ing)?>/i;
/** One character less than the longest tag: what may be the beginning of one. */
const heldLength = '</thinking>'.length - 1;

export interface ReasoningFilter {
  push(piece: string): void;
  /** The text so far, without reasoning. A few characters may be held back until it is clear that they are no tag. */
  text(): string;
  /** No more pieces will come: the whole text. */
  finish(): string;
}

/** Takes the `<think>...</think>` blocks, which some local models write into their answer, out of a stream. */
export function createReasoningFilter(): ReasoningFilter {
  let visible = '';
  let pending = '';
  let isReasoning = false;

  return {
    push: (piece) => {
      pending += piece;
      while (takeTag());
      const settled = Math.max(0, pending.length - heldLength);
      if (!isReasoning) visible += pending.slice(0, settled);
      pending = pending.slice(settled);
    },
    text: () => visible,
    finish: () => {
      if (!isReasoning) visible += pending;
      pending = '';
      return visible;
    },
  };

  /** Consumes up to and including the first tag; false when there is none. */
  function takeTag(): boolean {
    const end = closing.exec(pending);
    const start = isReasoning ? null : opening.exec(pending);
    const tag = start && (!end || start.index < end.index) ? start : end;
    if (!tag) return false;
    // Where the template opened the block in the prompt, only its end is seen: all before it was reasoning.
    if (tag === start) visible += pending.slice(0, tag.index);
    else if (!isReasoning) visible = '';
    isReasoning = tag === start;
    pending = pending.slice(tag.index + tag[0].length);
    return true;
  }
}
