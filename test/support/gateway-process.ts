import { tGateway } from './gateway.ts';
import { postJson } from './post-json.ts';
import { type TProcess, tScript } from './process.ts';

export interface WrittenEssay {
  id: string;
  text: string;
}

/** A gateway, as clients use it. */
export interface GatewayClient {
  /** @returns the data of the answer. Rejects if there are errors or no answer. */
  ask<Data>(query: string, variables?: object, operationName?: string): Promise<Data>;
  /**
   * Orders an essay about this topic, under this idempotency key, again and again while the gateway cannot make sure that it is paid
   * for once: a store on a busy machine may not respond in time. Rejects if the order fails.
   */
  order(topic: string, idempotencyKey?: string, options?: OrderOptions): Promise<WrittenEssay>;
  /** The calls it has counted this month. */
  counted(service: 'ESSAYS' | 'BANK_DATA'): Promise<number>;
}

export interface GatewayProcess extends GatewayClient {
  process: TProcess;
  /** Of its port, without a path. */
  origin: string;
  /** Null without METRICS_PORT. */
  metricsUrl: string | null;
  /** Resolves when new connections are refused. */
  untilRefused(): Promise<void>;
}

/** Variables with which it never calls an upstream. Without URLs, it would start its self-hosted services. */
export const noUpstreams = {
  BANK_DATA_URL: 'http://127.0.0.1:9',
  BANK_DATA_API_KEY: 'seeded-key-1',
  ESSAY_URL: 'http://127.0.0.1:9',
  ESSAY_API_KEY: 'seeded-key-2',
};

/** Starts a gateway on a free port. Resolves when it listens. */
export function tGatewayProcess(env: Record<string, string> = {}): Promise<GatewayProcess> {
  return untilReady(tScript('src/cli/main.ts', { PORT: '0', ...env }));
}

/** The variables of gateways that share nothing but a Redis. */
export const sharing = (redis: { url: string }) => ({ REDIS_URL: redis.url, STORE_SECRET: 'a-secret-that-all-share' });

/** Two gateways in this process that share nothing but a Redis. */
export function tReplicas(redis: { url: string }, options: Parameters<typeof tGateway>[0] = {}) {
  const env = { LOG_LEVEL: 'warn', ...sharing(redis), ...options.env };
  const start = async () => tClientOf(await tGateway({ ...options, env }).listen());
  return Promise.all([start(), start()]);
}

/** Resolves when the process listens. */
export async function untilReady(process: TProcess): Promise<GatewayProcess> {
  const [printed] = await process.printed(/Graph(?:i)?QL .*\n[\s\S]*to stop .*\n/);
  const [, origin = ''] = /Graph(?:i)?QL +(\S+)\/graphql\n/.exec(printed) ?? [];
  const [, metricsUrl = null] = /metrics +(\S+)\n/.exec(printed) ?? [];

  return {
    ...tClientOf(origin),
    process,
    origin,
    metricsUrl,
    async untilRefused() {
      const isListening = () => fetch(`${origin}/health`, { headers: { connection: 'close' } }).then(() => true);
      while (await isListening().catch(() => false));
    },
  };
}

function tClientOf(origin: string): GatewayClient {
  async function ask<Data>(query: string, variables: object = {}, operationName?: string): Promise<Data> {
    const body = { query, variables, operationName };
    const answer = await postJson<{ data: Data; errors?: unknown }>(`${origin}/graphql`, body);
    if (answer.errors) throw new Error(JSON.stringify(answer));
    return answer.data;
  }

  return {
    ask,
    async order(topic, idempotencyKey, options) {
      for (;;) {
        const data = await ask<OrderData>(orderMutation, orderVariables(topic, idempotencyKey, options));
        const essay = readEssay(data);
        if (essay) return essay;
        const problem = JSON.stringify(data);
        if (!problem.includes('cannot make sure')) throw new Error(problem);
      }
    },
    async counted(service) {
      const { allowances } = await ask<Counts>('{ allowances { service used } }');
      return allowances.find((allowance) => allowance.service === service)?.used ?? Number.NaN;
    },
  };
}

interface Counts {
  allowances: { service: string; used: number }[];
}

export const orderMutation = `mutation ($input: GenerateEssayInput!) {
  generateEssay(input: $input) { ... on Essay { id text } ... on UserError { message } }
}`;

interface OrderOptions {
  orderAgain?: boolean;
}

export function orderVariables(topic: string, idempotencyKey?: string, options: OrderOptions = {}) {
  return { input: { description: topic, wordCount: 500, idempotencyKey, ...options } };
}

export interface OrderData {
  generateEssay: Partial<WrittenEssay>;
}

/** The essay, or null if the order failed. */
export function readEssay({ generateEssay: { id, text } }: OrderData): WrittenEssay | null {
  return id === undefined || text === undefined ? null : { id, text };
}
