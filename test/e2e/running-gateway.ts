import type { TProcess } from '../process.ts';

export interface WrittenEssay {
  id: string;
  text: string;
}

/** A gateway's process, as clients see it. */
export interface RunningGateway {
  process: TProcess;
  /** The data of the answer. Rejects where there are errors, or none comes. */
  ask<Data>(query: string, variables?: object): Promise<Data>;
  /** Orders an essay of this topic, by this idempotency key where there is one. Rejects where none is written. */
  order(topic: string, idempotencyKey?: string): Promise<WrittenEssay>;
  /** How many calls it has counted this month. */
  counted(service: 'ESSAYS' | 'BANK_DATA'): Promise<number>;
}

/** Once it listens. */
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
      const input = { description: topic, wordCount: 500, idempotencyKey };
      const { generateEssay } = await ask<{ generateEssay: Partial<WrittenEssay> }>(ORDER, { input });
      const { id, text } = generateEssay;
      if (id === undefined || text === undefined) throw new Error(JSON.stringify(generateEssay));
      return { id, text };
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

const ORDER = `mutation ($input: GenerateEssayInput!) {
  generateEssay(input: $input) { ... on Essay { id text } ... on Error { message } }
}`;
