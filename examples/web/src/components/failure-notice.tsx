import type { Failure } from '../failure.ts';

interface FailureNoticeProps {
  failure: Failure;
  onRetry: () => void;
}

export function FailureNotice({ failure, onRetry }: FailureNoticeProps) {
  return (
    <div className="notice failed">
      <p>{failure.message}</p>
      {failure.isRetryable && (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}
