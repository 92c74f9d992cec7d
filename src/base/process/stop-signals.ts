interface StopOptions {
  /** How long the process continues after it has announced the stop, in milliseconds. */
  delayMs: number;
  announce: () => void;
  stop: () => Promise<void>;
}

/**
 * Calls `announce` on the first SIGTERM or SIGINT, and `stop` after the delay. A second signal ends the delay, but not
 * within 100 ms: systemd, terminals and npm may all forward one signal.
 */
export function stopOnSignal(signals: Pick<NodeJS.EventEmitter, 'on'>, { delayMs, announce, stop }: StopOptions): void {
  let signaledAt: number | null = null;
  let timer: NodeJS.Timeout | null = null;
  const stopOnce = () => {
    if (timer === null) return;
    clearTimeout(timer);
    timer = null;
    void stop();
  };
  const onSignal = () => {
    if (signaledAt === null) {
      signaledAt = performance.now();
      announce();
      timer = setTimeout(stopOnce, delayMs);
    } else if (performance.now() - signaledAt > sameSignalMs) stopOnce();
  };
  signals.on('SIGTERM', onSignal).on('SIGINT', onSignal);
}

const sameSignalMs = 100;
