import type { TProcess } from '../process.ts';

export interface WrittenEssay {
  id: string;
  text: string;
}

/** The process of a gateway, as clients use it. */
export interface RunningGateway {
  process: TProcess;
  /** @returns the data of the answer. Rejects if there are errors or no answer. */
  ask<Data>(query: string, variables?: object): Promise<Data>;
  /** Orders an essay about this topic, under this idempotency key. Rejects if there is no essay. */
  order(topic: string, idempotencyKey?: string): Promise<WrittenEssay>;
  /** The calls it has counted this month. */
  counted(service: 'ESSAYS' | 'BANK_DATA'): Promise<number>;
}

/** Resolves when the process listens. */
export async function untilReady(process: TProcess): Promise<RunningGateway> {
  const [, url = ''] = await process.printed(/GraphiQL +(\S+)\n[\s\S]*essays .*\n/);

  async function ask<Data>(query: string, variables: object = {}): Promise<Data> {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query, variables }) });
    const answer = (await response.json()) as { data: Data; errors?: unknown };
    if (answer.errors) throw new Error(JSON.stringify(answer));
    return answer.data;
  }

  return {
    process,
    ask,
    async order(topic, idempotencyKey) {
      const data = await ask<OrderData>(orderMutation, orderVariables(topic, idempotencyKey));
      const essay = readEssay(data);
      if (!essay) throw new Error(JSON.stringify(data));
      return essay;
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
  generateEssay(input: $input) { ... on Essay { id text } ... on Error { message } }
}`;

export function orderVariables(topic: string, idempotencyKey?: string) {
  return { input: { description: topic, wordCount: 500, idempotencyKey } };
}

export interface OrderData {
  generateEssay: Partial<WrittenEssay>;
}

/** The essay, or null if the order failed. */
export function readEssay({ generateEssay: { id, text } }: OrderData): WrittenEssay | null {
  return id === undefined || text === undefined ? null : { id, text };
}
