import { createGatewayRuntime } from '@graphql-hive/gateway-runtime';
import { transports } from './transport.ts';

/** Hive Gateway in this process. In production it, or another router, runs as a process of its own. */
export function createRouter(supergraph: string) {
  return createGatewayRuntime({ supergraph, transports, logging: false, landingPage: false });
}
