import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { addDiagnosticTools, replyToDiagnosticOrder, stateSecret } from '../../support/gateway/mcp/diagnostic-tools.ts';
import { tFolder } from '../../support/gateway/stores/folder.ts';
import { tGateway } from '../../support/gateway.ts';
import { tUpstream } from '../../support/scripted-upstream.ts';

interface Check {
  id: string;
  status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
}

/** The checks of each scenario that an edition has for servers, by the name of the scenario, by the official conformance suite. */
async function runConformance(url: string, edition: string) {
  const folder = tFolder();
  const args = ['--import', shim, suite, 'server', '--requirements', edition, '--url', url, '--output-dir', folder];
  // Its exit code says that a scenario has failed, which the caller decides.
  await new Promise<void>((resolve) => execFile(process.execPath, args, { timeout: 200_000 }, () => resolve()));
  const results = readdirSync(folder).map((name) => {
    const scenario = name.replace(/^server-/, '').replace(/-\d{4}-\d{2}-\d{2}T.*$/, '');
    const checks: Check[] = JSON.parse(readFileSync(join(folder, name, 'checks.json'), 'utf8'));
    const idsOf = (...wanted: Check['status'][]) =>
      checks.flatMap(({ id, status }) => (wanted.includes(status) ? [id] : []));
    return [scenario, { passed: idsOf('SUCCESS'), failed: idsOf('FAILURE', 'WARNING') }] as const;
  });
  return new Map(results);
}

const suite = fileURLToPath(
  new URL('../../../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url),
);

/** The suite imports `globSync` for another command; Node 20 does not have it. */
const hook = `export async function load(url, context, next) {
  const loaded = await next(url, context);
  if (!url.endsWith('/conformance/dist/index.js')) return loaded;
  return { ...loaded, source: String(loaded.source).replace(/globSync as \\w+,/, '') };
}`;
const shim = asModule(`import { register } from 'node:module'; register(${JSON.stringify(asModule(hook))});`);

function asModule(code: string): string {
  return `data:text/javascript,${encodeURIComponent(code)}`;
}

// cspell:ignore mrtr

/*
 * What editions require of servers, by the official conformance suite: a gateway with the tools, prompts and resources that the suite
 * calls, beside its own. Their tasks are essay orders, and their states are sealed as consents are.
 */

/** What fails, by reason: the scenarios, each with its checks that fail. None: the suite has checked nothing. */
const expectedFailures = {
  '2025-11-25': {
    'the answer of a client is another request, which finds the waiting tool only in a session': {
      'tools-call-sampling': ['tools-call-sampling'],
      'tools-call-elicitation': ['tools-call-elicitation'],
      'elicitation-sep1034-defaults': ['elicitation-sep1034-general'],
      'elicitation-sep1330-enums': ['elicitation-sep1330-general'],
    },
    'a subscription lasts for a session': {
      'resources-subscribe': ['resources-subscribe'],
      'resources-unsubscribe': ['resources-unsubscribe'],
    },
    'the suite stops if the server has no sessions': {
      'server-session-lifecycle': [],
      'server-sse-multiple-streams': ['server-sse-multiple-streams-session'],
    },
    'a result is sent whole, and not stored for a client that comes back': {
      'server-sse-polling': ['server-sse-polling-session', 'server-sse-priming-event', 'server-sse-retry-field'],
    },
  },
  '2026-07-28': {
    'an order that failed is a completed task with an error as its result': {
      'tasks-lifecycle': ['sep-2663-tasks-get-status-failed'],
    },
    'a user is asked before a task begins, and never by a task': {
      'tasks-mrtr-input': [
        ...['sep-2663-tasks-get-status-input-required', 'tasks-mrtr-tasks-update-resumes'],
        'tasks-mrtr-partial-fulfillment',
      ],
    },
    'no tool requires the extension: without it, the result is the order': {
      'tasks-required-task-error': ['sep-2663-server-returns-missing-capability-when-required'],
    },
    'the suite skips it, until it is written for subscriptions': { 'tasks-status-notifications': [] },
  },
};

it.for([
  { edition: '2025-11-25', count: 33 },
  { edition: '2026-07-28', count: 50 },
] as const)(
  'all scenarios of the edition $edition pass but the expected ones',
  async ({ edition, count }, { task }) => {
    const { url: essaysUrl } = await tUpstream(replyToDiagnosticOrder);
    // The suite cancels orders that are being written.
    const env = { STORE_SECRET: stateSecret, ESSAY_CANCEL_SENT: 'on' };
    const origin = await tGateway({ addMcpTools: addDiagnosticTools, essaysUrl, env }).listen();
    const results = await runConformance(`${origin}/mcp`, edition);
    const failed = [...results].filter(([, { failed, passed }]) => failed.length > 0 || passed.length === 0);
    const judge = `MCP conformance suite, servers of ${edition}`;
    task.meta.judgement = { judge, passed: results.size - failed.length, total: results.size };
    expect(Object.fromEntries(failed.map(([name, checks]) => [name, checks.failed]))).toEqual(
      Object.assign({}, ...Object.values(expectedFailures[edition])),
    );
    expect(results.size).toBe(count);
  },
);
