import {
  type ASTNode,
  type ASTVisitFn,
  type ASTVisitor,
  BREAK,
  getEnterLeaveForKind,
  type ValidationContext,
  type ValidationRule,
} from 'graphql';
import type { NodeVisitor } from './walk-document.ts';

/**
 * Merges validation rules into one. For each node, it calls only the rules that visit its kind. GraphQL.js finds them for each
 * document, and for all kinds that there are, which takes longer than everything else that a short document needs.
 * @param rules each visits the same kinds of nodes in every document
 */
export function mergeRules(rules: readonly ValidationRule[]): (context: ValidationContext) => NodeVisitor {
  const indexesByKind = new Map<NodeKind, readonly number[]>();

  return (context) => {
    const merged = rules.map((rule) => new MergedRule(rule(context)));
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
      const steps: Step[] = [];
      for (const index of indexesOf(kind, merged)) {
        const rule = merged[index];
        if (rule) steps.push({ rule, ...getEnterLeaveForKind(rule.visitor, kind) });
      }
      stepsByKind.set(kind, steps);
      return steps;
    }
  };

  function indexesOf(kind: NodeKind, merged: readonly MergedRule[]): readonly number[] {
    const known = indexesByKind.get(kind);
    if (known) return known;
    const indexes = merged.flatMap(({ visitor }, index) => {
      const { enter, leave } = getEnterLeaveForKind(visitor, kind);
      return enter || leave ? [index] : [];
    });
    indexesByKind.set(kind, indexes);
    return indexes;
  }
}

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
  enter?: ASTVisitFn<ASTNode>;
  leave?: ASTVisitFn<ASTNode>;
}
