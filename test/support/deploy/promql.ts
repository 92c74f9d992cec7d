import { parser } from '@prometheus-io/lezer-promql';

export interface PromqlUse {
  /** Names of the metrics. */
  metrics: string[];
  /** Labels by which series are grouped or joined. */
  groupedBy: string[];
  /** Values, also of regular expressions, by which series are selected. */
  selected: { metric: string; label: string; values: string[] }[];
}

/** The metrics and labels in a PromQL expression. @throws Error if it is not valid */
export function parsePromql(expression: string): PromqlUse {
  const use: PromqlUse = { metrics: [], groupedBy: [], selected: [] };
  let label = '';
  parser.parse(expression).iterate({
    enter({ name, type, from, to, node }) {
      const text = expression.slice(from, to);
      if (type.isError) throw new Error(`not valid at character ${from}: ${expression}`);
      if (name === 'Identifier') use.metrics.push(text);
      if (name === 'LabelName' && node.parent?.name === 'GroupingLabels') use.groupedBy.push(text);
      else if (name === 'LabelName') label = text;
      if (name === 'StringLiteral' && node.parent?.name === 'UnquotedLabelMatcher') {
        use.selected.push({ metric: use.metrics.at(-1) ?? '', label, values: text.slice(1, -1).split('|') });
      }
    },
  });
  return use;
}
