import { ElapsedTime } from './elapsed-time.tsx';

interface RunningNoticeProps {
  /** In milliseconds since 1970. */
  sentAt: number;
}

export function RunningNotice({ sentAt }: RunningNoticeProps) {
  return (
    <div className="notice running">
      <p>
        <strong>Writing the essay.</strong> This takes up to two minutes. You can reload the page: the essay is paid for
        once.
      </p>
      <div className="progress">
        <progress aria-label="Writing the essay" />
        <ElapsedTime since={sentAt} />
      </div>
    </div>
  );
}
