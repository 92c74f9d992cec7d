import type { OrderOutcomeFragment } from '../gql/graphql.ts';
import { readEssayText } from '../state/essay-text.ts';
import { isDrafter } from '../state/essay-writer.ts';
import { modeLabels } from '../state/labels.ts';

interface EssayArticleProps {
  essay: Extract<OrderOutcomeFragment, { __typename: 'Essay' }>;
}

export function EssayArticle({ essay }: EssayArticleProps) {
  const { title, paragraphs } = readEssayText(essay.text);
  return (
    <article className="essay">
      {title !== null && <h3>{title}</h3>}
      {paragraphs.map(({ start, text }) => (
        <p key={start}>{text}</p>
      ))}
      <footer className="hint">
        {essay.wordCount} words, {modeLabels[essay.mode].toLowerCase()}
        {isDrafter() && '. Arranged by the offline drafter from the topic, without a language model.'}
      </footer>
    </article>
  );
}
