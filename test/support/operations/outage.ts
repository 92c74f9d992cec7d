import { readFileSync } from 'node:fs';
import { expect, vi } from 'vitest';
import type { Reply } from '../scripted-upstream.ts';
import { type Seen, startLoad } from './load.ts';
import type { Replica, Site } from './site.ts';

/* Outages of a site, and whether they are seen as the table in docs/incidents.md says. */

/** While Redis fails, look-ups are answered: tests of the stores hold how long they wait for it. */
export function expectLookUps({ lookUps, failedLookUps }: Seen): void {
  expect(lookUps).toBeGreaterThan(10);
  expect(failedLookUps).toBe(0);
}

/** Replies so to calls of one method, and right to the others. */
export function replyTo(method: 'GET' | 'POST', reply: Reply, replyRight: Reply): Reply {
  return (response, call) => (call.method === method ? reply : replyRight)(response, call);
}

/** They may also fire because the machine of the test is busy, or has little space. */
const machineAlerts = ['DiskNearlyFull', 'Down', 'EventLoopBlocked', 'OverheadHigh', 'ReplicaDown', 'StoreSlow'];

/** A row of the table: the texts in backticks of its cells. */
interface Row {
  /** Codes of errors and HTTP statuses that clients receive. */
  codes: string[];
  /** What /ready reports as the failure of the store. */
  failures: string[];
  /** Expressions of PromQL that are true during the outage. */
  metrics: string[];
  /** In the log of a gateway. There are no other warnings and errors. */
  log: string[];
  /** There are no others. */
  alerts: string[];
}

const page = readFileSync(new URL('../../../docs/incidents.md', import.meta.url), 'utf8');

function readRow(name: string): Row {
  const line = page.split('\n').find((text) => text.startsWith(`| ${name} |`));
  if (line === undefined) throw new Error(`docs/incidents.md has no row for the outage: ${name}`);
  const [codes = [], failures = [], metrics = [], log = [], alerts = []] = line
    .split(' | ')
    .slice(1)
    .map((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text));
  return { codes, failures, metrics, log, alerts };
}

interface Outage {
  /** As in the table. */
  name: string;
  /** Receives the gateway that has sent an order whose essay is being written. */
  begin: (ordering: Replica) => unknown;
  /** Called when all that the row says was seen. */
  during?: () => unknown;
  /** Ends it. */
  end: () => unknown;
  /** Of the clients, each of whose orders is sent twice by default. */
  load?: { repeatsOrders?: boolean; headers?: Record<string, string> };
  /** Whether all orders are repeated until they have an essay. By default, yes. */
  untilAllOrdered?: boolean;
}

/**
 * Waits during the outage until all that its row says was seen, and afterwards until the site works again. Checks that
 * nothing else was seen, and that no order was paid for twice. A site may have several outages, one after the other.
 * @returns what clients saw between its begin and its end
 */
export async function playOutage(
  site: Site,
  { name, begin, during = () => {}, end, load: options = {}, untilAllOrdered = true }: Outage,
): Promise<Seen> {
  const { gateways, prometheus } = site;
  const row = readRow(name);
  const until = (isSeen: () => Promise<void>) =>
    vi.waitFor(isSeen, { interval: 100, timeout: 100_000 }).catch((error: Error) => {
      error.message = `${name}: ${error.message}`;
      throw error;
    });
  const findFailures = async () => {
    const failures = await Promise.all(gateways.map((gateway) => gateway.storeFailure()));
    return [...new Set(failures)].filter((failure) => failure !== null);
  };
  const ofOutage = (alerts: readonly string[]) =>
    alerts.filter((alert) => row.alerts.includes(alert) || !machineAlerts.includes(alert));
  const firing = async () => ofOutage(await prometheus.firing());
  const works = async () => expect(await findFailures(), '/ready').toEqual([]);
  const load = await startLoad(site, options);
  await Promise.all([until(works), prometheus.untilScraped()]);
  // Alerts of an earlier outage clear later than it ends.
  await until(async () => expect(await firing()).toEqual([]));

  const beganAt = Date.now();
  for (const gateway of gateways) gateway.begin();
  load.seen();
  // Each outage meets an order that is paid for, and not yet answered.
  await begin(await site.untilOrdering());
  await until(async () => {
    const output = gateways.map((gateway) => gateway.output()).join('\n');
    expect(row.log.filter((text) => !output.includes(text))).toEqual([]);
    expect(await findFailures(), '/ready').toEqual(expect.arrayContaining(row.failures));
  });
  await until(async () => {
    expect(await findFailures(), '/ready').toEqual(row.failures);
    const results = await Promise.all(row.metrics.map((expression) => prometheus.query(expression)));
    expect(row.metrics.filter((_, index) => results[index]?.length === 0)).toEqual([]);
    expect(await firing()).toEqual(row.alerts.toSorted());
  });
  await during();
  await end();
  const seen = await load.end({ untilAllOrdered });

  await until(works);
  expect(seen.codes, name).toEqual(row.codes.toSorted());
  expect(ofOutage(await prometheus.fired(beganAt)), name).toEqual(row.alerts.toSorted());
  const problems = gateways.flatMap((gateway) => gateway.problems());
  expect(problems.filter((problem) => !row.log.some((text) => problem.includes(text)))).toEqual([]);
  return seen;
}
