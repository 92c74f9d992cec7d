import { createGatewayRuntime } from '@graphql-hive/gateway-runtime';
import { transports } from './transport.ts';

/** Hive Gateway in this process. In production, run a router as a separate process. */
export function createRouter(supergraph: string) {
  return createGatewayRuntime({ supergraph, transports, logging: false, landingPage: false });
}
