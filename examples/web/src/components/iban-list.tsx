import { useId } from 'react';
import { IbanFacts } from '../documents.ts';
import type { Failure } from '../failure.ts';
import { type FragmentType, readFragment } from '../gql/index.ts';
import type { IbanListing, RowState } from '../state/use-iban-list.ts';
import { FailureNotice } from './failure-notice.tsx';
import { IbanRow } from './iban-row.tsx';

interface IbanListProps {
  listing: IbanListing;
  /** In the order asked, null where a look-up failed; undefined while nothing is answered. */
  answers: readonly (FragmentType<typeof IbanFacts> | null)[] | null | undefined;
  /** Why look-ups failed, by their place; where the client did not keep it, the row fails without a why. */
  failures: ReadonlyMap<number, Failure>;
  /** The whole question failed. */
  failure: Failure | null;
  onRetry: () => void;
}

export function IbanList({ listing, answers, failures, failure, onRetry }: IbanListProps) {
  const field = useId();
  const rows = (listing.asked ?? []).map((iban, place) => ({ iban, place, state: listing.row(iban, stateAt(place)) }));

  function stateAt(place: number): RowState {
    const answer = answers?.[place];
    if (answer === undefined) return 'waiting';
    const facts = readFragment(IbanFacts, answer);
    return facts ? { facts } : { failure: failures.get(place) ?? unexplained };
  }

  return (
    <>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          listing.ask();
        }}
      >
        <label htmlFor={field}>IBANs, one per line</label>
        <textarea
          id={field}
          className="iban"
          rows={6}
          value={listing.text}
          spellCheck={false}
          autoCapitalize="characters"
          onChange={({ target, nativeEvent }) => {
            const isPasted = 'inputType' in nativeEvent && nativeEvent.inputType === 'insertFromPaste';
            if (isPasted) listing.paste(target.value);
            else listing.type(target.value);
          }}
        />
        <div className="deeds">
          <button type="submit">Check them all</button>
          <span className="hint">What you paste is checked at once, with one request.</span>
        </div>
      </form>
      <p className="tally" role="status">
        {failure === null && rows.length > 0 && tally(rows.map(({ state }) => state))}
      </p>
      <div aria-live="polite">{failure && <FailureNotice failure={failure} onRetry={onRetry} />}</div>
      {failure === null && rows.length > 0 && (
        <ol className="rows" aria-label="Answers">
          {rows.map(({ iban, place, state }) => (
            <IbanRow key={`${place} ${iban}`} iban={iban} state={state} onRetry={() => listing.retry(iban)} />
          ))}
        </ol>
      )}
    </>
  );
}

const unexplained: Failure = { message: 'It could not be looked up.', isRetryable: true };

function tally(states: readonly RowState[]): string {
  const waiting = states.filter((state) => state === 'waiting').length;
  if (waiting === states.length) return `Checking ${states.length} …`;
  const answered = states.flatMap((state) => (state !== 'waiting' && 'facts' in state ? [state.facts] : []));
  const valid = answered.filter((facts) => facts.valid).length;
  const failed = states.length - waiting - answered.length;
  const parts = [
    `${valid} valid`,
    `${answered.length - valid} not valid`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(waiting > 0 ? [`${waiting} waiting`] : []),
  ];
  return parts.join(', ');
}
