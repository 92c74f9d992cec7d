import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createGatewayRuntime } from '@graphql-hive/gateway-runtime';
import restTransport from '@graphql-mesh/transport-rest';

/*
 * Hive Gateway over the REST service, without a GraphQL server between. GraphQL Mesh composed supergraph.graphql from
 * mesh.config.js.
 */

const gateway = createGatewayRuntime({
  supergraph: readFileSync(new URL('supergraph.graphql', import.meta.url), 'utf8'),
  transports: { rest: restTransport },
  logging: false,
});

createServer(gateway).listen(Number(process.env.PORT), '127.0.0.1');
