/*
 * Part of the page of GraphiQL, before its own code: the ids of the latest essay and order in an answer are the variables
 * `essayId` and `orderId` of later operations, unless these have their own. So the user of the examples copies no id.
 */
const variableNames = { Essay: 'essayId', EssayOrder: 'orderId' };
const ids = {};
const send = globalThis.fetch;

globalThis.fetch = async (url, init = {}) => {
  const response = await send(url, { ...init, body: addIds(init.body) });
  void readIds(response.clone()).catch(() => {});
  return response;
};

function addIds(body) {
  if (typeof body !== 'string') return body;
  const { variables, ...request } = JSON.parse(body);
  const declared = Object.entries(ids).filter(([name]) => new RegExp(`[$]${name}\\s*:`).test(request.query));
  return JSON.stringify({ ...request, variables: { ...Object.fromEntries(declared), ...variables } });
}

/** From JSON, or from each event of a subscription as it arrives. */
async function readIds(response) {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop();
    for (const line of lines) readIdsOf(line.replace(/^data:/, ''));
  }
  readIdsOf(rest);
}

function readIdsOf(json) {
  if (!/^\s*\{/.test(json)) return;
  JSON.parse(json, (_, value) => {
    const name = variableNames[value?.__typename];
    if (name && value.id) ids[name] = value.id;
    return value;
  });
}
