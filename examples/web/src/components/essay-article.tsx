import type { OrderProgressFragment } from '../gql/graphql.ts';
import { readEssayText } from '../state/essay-text.ts';
import { EssayExports } from './essay-exports.tsx';

type Finished = Extract<OrderProgressFragment['state'], { __typename: 'EssayFinished' }>;

interface EssayArticleProps {
  text: string;
  /** Null while its text arrives. */
  essay: NonNullable<Finished['essay']> | null;
}

export function EssayArticle({ text, essay }: EssayArticleProps) {
  const { title, paragraphs } = readEssayText(text);
  return (
    <>
      <article className={essay ? 'essay' : 'essay arriving'} aria-busy={essay === null}>
        {title !== null && <h4>{title}</h4>}
        {paragraphs.map(({ start, text }) => (
          <p key={start}>{text}</p>
        ))}
        {essay && (
          <footer className="hint">
            {essay.wordCount} words
            {essay.writer === 'DRAFTER' && ', arranged by the offline drafter from the topic, without a language model'}
          </footer>
        )}
      </article>
      {essay && <EssayExports essay={essay} />}
    </>
  );
}
