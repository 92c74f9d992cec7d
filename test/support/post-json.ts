interface PostOptions {
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
  /** In place of the network, such as a GraphQL handler without a port. */
  fetch?: (url: string, init: RequestInit) => Response | Promise<Response>;
}

/** Sends JSON, and reads the JSON of the response. */
export async function postJson<Answer>(
  url: string,
  body: object,
  { headers = {}, signal, fetch = globalThis.fetch }: PostOptions = {},
): Promise<Answer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
  return (await response.json()) as Answer;
}
