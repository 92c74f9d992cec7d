import Negotiator from 'negotiator';

/** How the results of a subscription follow each other in one response. */
export interface StreamFormat {
  contentType: string;
  /** Before the first result. */
  begin: string;
  /** @param json of a result */
  result(json: string): string;
  /** Keeps proxies from closing a connection on which nothing happens. */
  heartbeat: string;
  end: string;
}

/** Apollo's multipart protocol, version 1.0: https://www.apollographql.com/docs/graphos/routing/operations/subscriptions/multipart-protocol */
const multipart: StreamFormat = {
  contentType: 'multipart/mixed;boundary="graphql";subscriptionSpec=1.0',
  // A client knows that a part is complete when the boundary after it has arrived.
  begin: '--graphql',
  result: (json) => toPart(`{"payload":${json}}`),
  heartbeat: toPart('{}'),
  end: '--\r\n',
};

function toPart(json: string): string {
  return `\r\ncontent-type: application/json\r\n\r\n${json}\r\n--graphql`;
}

/** GraphQL over SSE, distinct connections mode: https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md */
const serverSentEvents: StreamFormat = {
  contentType: 'text/event-stream; charset=utf-8',
  begin: ':\n\n',
  result: (json) => `event: next\ndata: ${json}\n\n`,
  heartbeat: ':\n\n',
  end: 'event: complete\ndata:\n\n',
};

const formats = new Map([
  ['multipart/mixed', multipart],
  ['text/event-stream', serverSentEvents],
]);

/** The format that an Accept header prefers; null if it allows none explicitly. */
export function chooseStreamFormat(accept: string | string[] | undefined): StreamFormat | null {
  if (typeof accept !== 'string' || !/multipart\/mixed|text\/event-stream/i.test(accept)) return null;
  // A Negotiator compares all parameters, and those of the protocol do not choose the type.
  const types = accept.replaceAll(/;\s*(?:boundary|subscriptionSpec|deferSpec)\s*=\s*(?:"[^"]*"|[^;,"]*)/gi, '');
  const [chosen = ''] = new Negotiator({ headers: { accept: types } }).mediaTypes([...formats.keys()]);
  return formats.get(chosen) ?? null;
}

/** The results of a subscription, each as JSON. */
export interface ResultStream {
  format: StreamFormat;
  results: AsyncIterable<string>;
}
