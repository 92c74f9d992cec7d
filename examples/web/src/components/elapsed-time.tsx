import { useEffect, useState } from 'react';

interface ElapsedTimeProps {
  /** In milliseconds since 1970. */
  since: number;
}

/** Minutes and seconds, such as 0:07. */
export function ElapsedTime({ since }: ElapsedTimeProps) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.floor((now - since) / 1_000));
  return (
    // Not announced each second, unlike the notice around it.
    <span role="timer" aria-live="off" aria-label="Elapsed time" className="elapsed">
      {Math.floor(seconds / 60)}:{String(seconds % 60).padStart(2, '0')}
    </span>
  );
}
