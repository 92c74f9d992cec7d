import { expect, it } from 'vitest';
import { runConformance } from '../../support/gateway/mcp/conformance.ts';
import { createDiagnosticServer } from '../../support/gateway/mcp/diagnostic-server.ts';
import { tGateway } from '../../support/gateway.ts';

// cspell:ignore mrtr

/* What editions require of servers, by the official conformance suite, with its tools in place of ours, through the gateway's own handler. */

const toolsOnly = [
  ...['prompts-list', 'prompts-get-simple', 'prompts-get-with-args', 'prompts-get-embedded-resource'],
  ...['prompts-get-with-image', 'resources-list', 'resources-read-text', 'resources-read-binary'],
  ...['resources-templates-read', 'completion-complete'],
];

/** The scenarios that fail, by reason. */
const expectedFailures = {
  '2025-11-25': {
    'the gateway has tools only': [...toolsOnly, 'resources-subscribe', 'resources-unsubscribe'],
    'the tools that ask the client are missing: in this edition, questions need a session': [
      ...['tools-call-sampling', 'tools-call-elicitation', 'elicitation-sep1034-defaults', 'elicitation-sep1330-enums'],
    ],
    'results are sent whole: no stream is resumed': ['server-sse-multiple-streams', 'server-sse-polling'],
  },
  '2026-07-28': {
    'the gateway has tools only, and nothing to subscribe to': [
      ...[...toolsOnly, 'sep-2164-resource-not-found', 'caching', 'input-required-result-non-tool-request'],
      'server-stateless',
    ],
    'the tools that ask the client are missing: consent.test.ts asks with the client of the SDK': [
      ...['basic-elicitation', 'basic-list-roots', 'basic-sampling', 'capability-check', 'ignore-extra-params'],
      ...['missing-input-response', 'multi-round', 'multiple-input-requests', 'request-state', 'result-type'],
      'tampered-state',
    ].map((name) => `input-required-result-${name}`),
    'no argument of a tool is sent in a header': ['http-custom-header-server-validation'],
    'the tools that run as tasks are missing: each task is an essay order, in tasks.test.ts': [
      ...['capability-negotiation', 'dispatch-and-envelope', 'lifecycle', 'mrtr-composition', 'mrtr-input'],
      ...['request-headers', 'request-state-removal', 'required-task-error', 'wire-fields'],
    ].map((name) => `tasks-${name}`),
  },
};

it.for([
  { edition: '2025-11-25', count: 33 },
  { edition: '2026-07-28', count: 50 },
] as const)(
  'all scenarios of the edition $edition pass but those that need sessions, or more than tools',
  async ({ edition, count }, { task }) => {
    const origin = await tGateway({ createMcpServer: createDiagnosticServer }).listen();
    const results = await runConformance(`${origin}/mcp`, edition);
    const failed = [...results].filter(([, checks]) =>
      checks.some(({ status }) => status === 'FAILURE' || status === 'WARNING'),
    );
    const judge = `MCP conformance suite, servers of ${edition}`;
    task.meta.judgement = { judge, passed: results.size - failed.length, total: results.size };
    expect(failed.map(([name]) => name).sort()).toEqual(Object.values(expectedFailures[edition]).flat().sort());
    expect(results.size).toBe(count);
  },
);
