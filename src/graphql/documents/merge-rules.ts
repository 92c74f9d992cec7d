import { type ASTNode, type ASTVisitFn, type ASTVisitor, BREAK, getEnterLeaveForKind } from 'graphql';
import type { NodeVisitor } from './walk-document.ts';

/**
 * Merges validation rules into one. For each node, it calls only the rules that visit its kind. GraphQL.js finds them for each
 * document, and for all kinds that there are, which takes longer than everything else that a short document needs. A rule is
 * created for the first node that it visits.
 * @param rules different functions, each of which visits the same kinds of nodes in every document
 */
export function mergeRules<Context>(rules: readonly Rule<Context>[]): (context: Context) => NodeVisitor {
  const rulesByKind = new Map<NodeKind, readonly Rule<Context>[]>();

  return (context) => {
    const merged = new Map<Rule<Context>, MergedRule>();
    const stepsByKind = new Map<NodeKind, readonly Step[]>();

    return {
      enter(node, key, parent, path, ancestors) {
        for (const { rule, enter } of stepsOf(node.kind)) {
          if (rule.skipping !== null || enter === undefined) continue;
          const result = enter.call(rule.visitor, node, key, parent, path, ancestors);
          if (result === false) rule.skipping = node;
          else if (result === BREAK) rule.skipping = BREAK;
        }
      },
      leave(node, key, parent, path, ancestors) {
        for (const { rule, leave } of stepsOf(node.kind)) {
          if (rule.skipping === node) rule.skipping = null;
          else if (rule.skipping === null && leave !== undefined) {
            const result = leave.call(rule.visitor, node, key, parent, path, ancestors);
            if (result === BREAK) rule.skipping = BREAK;
          }
        }
      },
    };

    function stepsOf(kind: NodeKind): readonly Step[] {
      const known = stepsByKind.get(kind);
      if (known) return known;
      const steps = rulesOf(kind, context).map((create) => {
        const rule = merged.get(create) ?? new MergedRule(create(context));
        merged.set(create, rule);
        const { enter, leave } = getEnterLeaveForKind(rule.visitor, kind);
        return { rule, enter, leave };
      });
      stepsByKind.set(kind, steps);
      return steps;
    }
  };

  function rulesOf(kind: NodeKind, context: Context): readonly Rule<Context>[] {
    const known = rulesByKind.get(kind);
    if (known) return known;
    const visiting = rules.filter((create) => {
      // Only to find what it visits, once for each kind.
      const { enter, leave } = getEnterLeaveForKind(create(context), kind);
      return enter !== undefined || leave !== undefined;
    });
    rulesByKind.set(kind, visiting);
    return visiting;
  }
}

type Rule<Context> = (context: Context) => ASTVisitor;
type NodeKind = ASTNode['kind'];

class MergedRule {
  readonly visitor: ASTVisitor;
  /** The node whose descendants it does not visit; `BREAK`: it visits no more nodes. */
  skipping: ASTNode | typeof BREAK | null = null;

  constructor(visitor: ASTVisitor) {
    this.visitor = visitor;
  }
}

/** What a rule does with a node. */
interface Step {
  rule: MergedRule;
  enter: ASTVisitFn<ASTNode> | undefined;
  leave: ASTVisitFn<ASTNode> | undefined;
}
