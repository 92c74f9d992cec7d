/*
 * The variables of the gateway: names, default and meaning. Printed as the tables of docs/configuration.md, each under its heading; a
 * test compares the names with those that the gateway reads.
 */

export const variableTexts: Record<string, readonly (readonly [names: string, byDefault: string, meaning: string])[]> =
  {
    Server: [
      ['`HOST`, `PORT`', '`127.0.0.1`, `4000`', 'address and port of the gateway'],
      ['`CORS_ORIGINS`', 'none', 'origins of web pages that may call the gateway, separated by commas, or `*`'],
      [
        '`ALLOWED_HOSTS`',
        'see meaning',
        'host names that clients use besides those of the loopback interface, separated by commas, or `*`. Default: none if `HOST` is a loopback address, otherwise `*`. Sometimes [required](#access)',
      ],
      [
        '`SHUTDOWN_DELAY_MS`',
        '`0` or `5000`',
        'how long requests are served after SIGTERM while `/ready` responds 503. Default: `0` in a terminal if `HOST` is a loopback address',
      ],
      [
        '`SHUTDOWN_TIMEOUT_MS`',
        '`125000`',
        'how long active requests may take after that. Default: the longer of `ESSAY_TIMEOUT_MS` and `BANK_DATA_TIMEOUT_MS`, and 5 s',
      ],
      ['`LOG_LEVEL`', '`info`', '`trace` `debug` `info` `warn` `error` `fatal` `silent`'],
      [
        '`METRICS_PORT`, `METRICS_HOST`',
        'off, as `HOST`',
        'port and address of [`/metrics`](metrics.md). `0`: a free port',
      ],
      ['`REVISION`', 'none', 'the commit that runs, as a label of `ledgerquill_build_info`; the image sets it'],
      [
        '`AUDIT_DAYS`',
        '`400`',
        'days for which the [audit trail](audit.md) of paid calls is kept in `DATA_DIR`. `stdout`: its lines go to standard output; `0`: none',
      ],
      [
        '`OPERATOR_KEY`',
        'off',
        'permits to [take back look-ups](operations.md#take-back-an-answer) at `METRICS_PORT`; at least 32 characters',
      ],
      [
        '`REQUEST_LOG_PER_SECOND`',
        '`100`',
        'lines of the [request log](log-and-traces.md#request-log) per second, for failed requests and for all others. `0`: none',
      ],
    ],
    'Limits of a request': [
      ['`MAX_IBANS_PER_QUERY`', '`1000`', 'IBANs, and BICs, in one query, duplicates included'],
      [
        '`MAX_QUERY_COST`',
        '`100000`',
        'cost of a query, computed before execution: 1 for each field and object in its response, 10 for a look-up, 100 for an essay or a long text. Lists count with their length in variables, or their maximum',
      ],
      [
        '`MAX_RESPONSE_BYTES`',
        '`8000000`',
        'size of a response, or one result of a subscription, before compression. A larger one is an error, though a mutation was executed',
      ],
      ['`MCP`', '`on`', '`off`: agents cannot use the gateway by the [Model Context Protocol](agents.md)'],
      [
        '`CHECK_MAX_REQUESTS`',
        '`2`',
        'files that `POST /check` [checks at a time](check-files.md#over-http), half of them for one caller; four times as many wait; `0`: without `/check`',
      ],
      [
        '`CHECK_MAX_BYTES`',
        '`10000000`',
        'size of such a file, which may be held in memory; its answer may have 20 times as much',
      ],
      [
        '`CHECK_MAX_IBANS`',
        '`10000`',
        'different IBANs of such a file that are looked up; other rows are `NOT_CHECKED`',
      ],
    ],
    'Limits of connections': [
      [
        '`MAX_CONNECTIONS`',
        '`1000`',
        'open connections. The one that waits longest for a complete request is closed, otherwise one whose response is being read; never the new one',
      ],
      [
        '`MAX_BUFFERED_BYTES`',
        '`64000000`',
        'size of all request bodies and unread responses. The oldest incomplete body gets 503, or the oldest unread response is aborted',
      ],
      [
        '`CLIENT_TIMEOUT_MS`',
        '`20000`',
        'how long a client may take to send a request, or read nothing of a response. Not configurable: 10 unanswered requests on one connection',
      ],
    ],
    Upstreams: [
      [
        '`BANK_DATA_URL`, `BANK_DATA_API_KEY`',
        'none',
        'the bank-data service: set both, or neither to use the self-hosted one',
      ],
      ['`ESSAY_URL`, `ESSAY_API_KEY`', 'none', 'likewise, the essay service'],
      [
        '`BANK_DATA_SELF_HOSTED`',
        '`off`',
        '`on`: `BANK_DATA_URL` is the [self-hosted service](bank-directories.md#the-service) as a separate process, whose imports reach the cache of the gateway',
      ],
      [
        '`BANK_DATA_TIMEOUT_MS`, `ESSAY_TIMEOUT_MS`',
        '`10000`, `120000`',
        'deadline of an upstream operation: queue (not for essays), call and retries; of a list, all its look-ups',
      ],
      ['`UPSTREAM_CONCURRENCY`', '`64`', 'calls at a time per upstream. 2,000 more wait; further ones fail at once'],
      [
        '`BANK_DATA_MONTHLY_ALLOWANCE`, `ESSAY_MONTHLY_ALLOWANCE`',
        'no limit',
        'calls per calendar month (UTC), besides what the service reports in `x-ratelimit-*-month`',
      ],
      [
        '`BANK_DATA_PRICE`, `ESSAY_PRICE`',
        'none',
        'what a call [costs](paid-calls.md), such as `0.01 EUR`. With a price, the self-hosted service counts as a paid one, too',
      ],
      [
        '`ESSAY_MODES`',
        '`NEWS_REPORT=Journalistic`, others such as `Academic`',
        'names of the modes at the service, such as `NEWS_REPORT=News report,DETAILED=Long`; [only `Standard`](upstreams.md#essays) is documented',
      ],
      ['`ESSAY_ORDERS_RUNNING`', '`16`', 'orders of `startEssay` that a gateway runs at a time'],
      ['`ESSAY_ORDERS_PER_CALLER`', '`100`', 'unfinished orders of `startEssay` of one caller, in each process'],
      [
        '`ESSAY_CANCEL_SENT`',
        '`off`',
        '`on`: `cancelEssayOrder` also ends an order that was sent: it may be paid for, and its essay is lost',
      ],
      [
        '`ESSAY_TEXT_FIELD`',
        'guessed',
        '[paths](upstreams.md#what-the-response-means) of the text in the response, such as `data.choices[0].text`. `ledgerquill try-essay` prints the value',
      ],
      ['`ESSAY_ERROR_FIELD`', 'guessed', 'path of the field whose value means a failure'],
    ],
    OpenTelemetry: [
      [
        '`OTEL_EXPORTER_OTLP_ENDPOINT`',
        'none',
        'base URL of the collector, such as `http://127.0.0.1:4318`, for OTLP over HTTP (`http/protobuf`). Without it, nothing is exported',
      ],
      [
        '`OTEL_TRACES_EXPORTER`, `OTEL_METRICS_EXPORTER`, `OTEL_LOGS_EXPORTER`',
        '`otlp`, `none`, `none`',
        '`otlp` or `none`: whether [traces](log-and-traces.md#traces), [metrics](metrics.md) and the [log](log-and-traces.md) are exported',
      ],
      ['`OTEL_EXPORTER_OTLP_HEADERS`', 'none', 'headers as `name=value`, separated by commas, percent-encoded'],
      [
        '`OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`',
        '`ledgerquill`, none',
        '`service.name` and other attributes, such as `deployment.environment.name=production`',
      ],
      [
        '`OTEL_TRACES_SAMPLER`',
        '`always_on`',
        '`always_on`, `always_off` or `traceidratio`. With `parentbased_` before it, the flag in `traceparent` decides: only behind a router that sets it, or clients decide',
      ],
      ['`OTEL_TRACES_SAMPLER_ARG`', '`1`', 'share of `traceidratio`, such as `0.01`'],
    ],
    'Cache and storage': [
      [
        '`BANK_DATA_FRESH_S`, `BANK_DATA_STALE_S`',
        '`86400`, `2592000`',
        'how long a look-up is fresh, and how long it may be served while it is revalidated or the service fails',
      ],
      ['`CACHE_MAX_MB`', '`32`', 'memory of cached look-ups (seven eighths, up to 98,000) and of kept replies'],
      ['`ESSAY_KEEP_DAYS`', '`30`', 'how long essays are stored'],
      ['`DATA_DIR`', '`.data`', 'folder of essays, counters and imported bank directories'],
      [
        '`REDIS_URL`',
        'none',
        'Redis, through which gateways share look-ups, essays, orders and counters: [a server, Sentinel or a cluster](#redis)',
      ],
      [
        '`REPLICAS`',
        'counted',
        'number of gateways that share Redis; by default, they count each other every 5 s. While Redis is down, each uses at most this part of what is left',
      ],
      [
        '`STORE_SECRET`',
        'generated in `DATA_DIR`',
        'encrypts stored data; at least 16 characters. Required with `REDIS_URL`, and the same for all gateways; see [another secret](operations.md#a-lost-secret)',
      ],
      [
        '`STORE_SECRET_OLD`',
        'none',
        'another secret that opens stored data, while [the secret is replaced](operations.md#replace-the-store-secret)',
      ],
    ],
    'Self-hosted essay service': [
      [
        '`LLM_URL`, `LLM_MODEL`, `LLM_API_KEY`',
        'none',
        'an OpenAI-compatible chat endpoint that writes the essays, such as `http://127.0.0.1:11434/v1` and `llama3.2`, within `ESSAY_TIMEOUT_MS` less 10 s. Without it, the offline drafter writes',
      ],
      [
        '`ESSAY_SERVICE_ALLOWANCE`',
        'no limit',
        'essays per calendar month (UTC), counted from the start of the service',
      ],
      [
        '`ESSAY_WRITER_DELAY`',
        '0',
        'milliseconds before each word of the offline drafter, to try the states of orders: with 100 and `ESSAY_ORDERS_RUNNING=1`, 150 words take 15 s, and a second order waits. All words must be written within `ESSAY_TIMEOUT_MS`',
      ],
    ],
    Callers: [
      [
        '`GATEWAY_API_KEYS`, `GATEWAY_API_KEYS_FILE`',
        'none',
        'API keys as `name:sha256-hex:scope+scope`, separated by commas (`ledgerquill api-key NAME`), or a JSON file with keys, [limits](#limits-of-a-caller) and [blocked](security.md#how-to-block-a-caller) tokens, read again when it changes',
      ],
      [
        '`JWT_JWKS_URL`, `JWT_PUBLIC_KEY`',
        'none',
        "the issuer's key set, or its only public key in PEM or JWK format. The set is read every 10 minutes, for an unknown key at most every 10 seconds",
      ],
      [
        '`ROUTER_SECRET`',
        'none',
        'the secret, at least 32 characters, with which a router [signs its requests](security.md#callers); two, separated by a comma, [while it is replaced](operations.md#replace-a-key-or-a-secret)',
      ],
      ['`JWT_ISSUER`, `JWT_AUDIENCE`', 'none', 'the required `iss` and `aud` of a token'],
      [
        '`JWT_CALLER_CLAIM`, `JWT_SCOPES_CLAIM`',
        '`sub`, `scope`',
        'claims with the caller and its scopes (an array, or text with spaces); dotted paths, such as `realm_access.roles`, lead into a claim',
      ],
      ['`JWT_LIMITS_CLAIM`', 'none', 'the claim with the [limits](#limits-of-a-caller) of the caller'],
      ['`ROUTER_SCOPES`', '`bank-data+essays`', 'scopes of the router'],
      [
        '`ANONYMOUS_SCOPES`',
        'see meaning',
        'scopes of requests without credentials. Default: `bank-data+essays` without callers, otherwise 401',
      ],
      ['`GATEWAY_AUTH`', 'none', '`none` confirms that a proxy in front of the gateway [authorizes callers](#access)'],
      [
        '`INTROSPECTION`, `GRAPHIQL`',
        '`on` without callers, otherwise `off`',
        '`on`: for every caller; `off`: for callers with the scope',
      ],
    ],
    'Limits of a caller': [
      [
        '`CALLER_REQUESTS_PER_MINUTE`',
        'no limit',
        'requests per minute of the clock, with Redis over all gateways: at most a tenth less while others are idle',
      ],
      [
        '`CALLER_BANK_DATA_CALLS`, `CALLER_ESSAY_CALLS`',
        'no limit',
        'paid calls per day or month (UTC), such as `1000/day` or `20000/month`; or money, such as `100 EUR/month`. Cached answers cost nothing',
      ],
      [
        '`MCP_CONSENT`',
        '`always`',
        'whether a user confirms the paid calls of [an agent](agents.md): `always`, `never`, or `above:20` beyond 20 paid calls that each tool makes without consent per day',
      ],
      ['`MCP_TOOL_CALLS`', 'no limit', 'paid calls of each tool of an agent per day (UTC), beside the budget'],
    ],
    'Trusted documents': [
      [
        '`TRUSTED_DOCUMENTS`',
        'none',
        'files, or folders of `.json` files, separated by commas: Apollo\'s persisted-query manifest, or `{"hash": "text"}` as Relay and GraphQL Code Generator write it. Read again when they change',
      ],
      [
        '`TRUSTED_DOCUMENTS_MODE`',
        '`require`',
        'other documents: `log` executes and logs them, `prefer` executes them, `require` refuses them',
      ],
    ],
  };
