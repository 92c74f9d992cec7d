export interface Gate {
  /** Resolves when it opens. */
  opened: Promise<void>;
  open(): void;
}

export function tGate(): Gate {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}
