import type { ServiceName } from '../../../base/errors.ts';
import type { Sample } from './series.ts';

export interface CacheStatus {
  entries: number;
  bytes: number;
}

interface Limit {
  service: ServiceName;
  limit: number | null;
  remaining: number | null;
}

/** Values that are read from the parts of the gateway when metrics are scraped. */
export interface MetricSources {
  activeRequests(): number;
  bulkheads(): Readonly<Record<ServiceName, { active: number; queued: number }>>;
  /** Orders that are written without their client, and have not ended. */
  essayOrders(): { waiting: number; running: number; oldestMs: number };
  /** Cached look-ups in memory. */
  lookUps(): CacheStatus;
  caches(): Readonly<Record<'replies' | 'documents', CacheStatus>>;
  /** Null for one that is not known yet. */
  allowances(): Promise<readonly (Limit | null)[]>;
  /** The budgets of the callers that used theirs last. */
  budgets(): Iterable<{ caller: string; service: ServiceName; remaining: number }>;
  isStoreUp(): boolean;
  /** On the disk of the embedded store; null if there is none. */
  freeBytes(): Promise<number | null>;
  bankLists(): readonly { country: string; validUntil: string | null }[];
  droppedLogLines(): number;
  /** A hash of what all replicas must have in common. */
  configHash(): Promise<string>;
}

export function createGatewayMetrics(sources: MetricSources) {
  const allowances = async (name: 'limit' | 'remaining') =>
    (await sources.allowances()).flatMap((allowance): Sample[] => {
      if (allowance === null) return [];
      const { service, [name]: value } = allowance;
      return value === null ? [] : [{ labels: { service }, value }];
    });
  const caches = () => ({ look_ups: sources.lookUps(), ...sources.caches() });
  return {
    http_server_active_requests: () => [{ value: sources.activeRequests() }],
    ledgerquill_bulkhead_active: () => list('service', sources.bulkheads(), ({ active }) => active),
    ledgerquill_bulkhead_queued: () => list('service', sources.bulkheads(), ({ queued }) => queued),
    ledgerquill_essay_orders() {
      const { waiting, running } = sources.essayOrders();
      return list('state', { waiting, running }, (value) => value);
    },
    ledgerquill_essay_orders_oldest_age_seconds: () => [{ value: sources.essayOrders().oldestMs / 1_000 }],
    ledgerquill_cache_entries: () => list('cache', caches(), ({ entries }) => entries),
    ledgerquill_cache_size_bytes: () => list('cache', caches(), ({ bytes }) => bytes),
    ledgerquill_allowance_limit: () => allowances('limit'),
    ledgerquill_allowance_remaining: () => allowances('remaining'),
    ledgerquill_budget_remaining: () => listBudgets(sources.budgets()),
    ledgerquill_store_up: () => [{ value: sources.isStoreUp() ? 1 : 0 }],
    ledgerquill_data_dir_free_bytes: async () => {
      const value = await sources.freeBytes();
      return value === null ? [] : [{ value }];
    },
    ledgerquill_bank_list_valid_until_timestamp_seconds: () =>
      sources.bankLists().flatMap(({ country, validUntil }): Sample[] => {
        if (validUntil === null) return [];
        return [{ labels: { country }, value: (Date.parse(validUntil) + dayMs) / 1_000 }];
      }),
    ledgerquill_log_lines_dropped_total: () => [{ value: sources.droppedLogLines() }],
    ledgerquill_config_info: async () => [{ labels: { hash: await sources.configHash() }, value: 1 }],
  };
}

const dayMs = 24 * 60 * 60 * 1_000;

function list<Item>(label: string, items: Readonly<Record<string, Item>>, read: (item: Item) => number): Sample[] {
  return Object.entries(items).map(([name, item]) => ({ labels: { [label]: name }, value: read(item) }));
}

/** Lists configured callers by name, and the first callers with tokens; further budgets are summed. */
function listBudgets(budgets: ReturnType<MetricSources['budgets']>): Sample[] {
  const samples: Sample[] = [];
  const others = new Map<ServiceName, number>();
  const left = { configured: maxConfigured, tokens: maxTokens };
  for (const { caller, service, remaining } of budgets) {
    const kind = caller.startsWith('jwt:') ? 'tokens' : 'configured';
    left[kind] -= 1;
    if (left[kind] >= 0) samples.push({ labels: { caller, service }, value: remaining });
    else others.set(service, (others.get(service) ?? 0) + remaining);
  }
  for (const [service, value] of others) samples.push({ labels: { caller: 'other', service }, value });
  return samples;
}

/** Series: a caller may have two. */
const maxConfigured = 1_000;
const maxTokens = 100;
