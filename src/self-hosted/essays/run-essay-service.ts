import { readEssayServiceConfig } from '../../config/service-config.ts';
import { createLog } from '../../telemetry/log.ts';
import { createRedact } from '../../telemetry/redact.ts';
import { runService } from '../run-service.ts';
import { createEssayService } from './create-essay-service.ts';
import { createEssayWriter, describeWriter } from './create-essay-writer.ts';

/** Serves until SIGTERM or SIGINT, as configured by the environment. */
export async function runEssayService(): Promise<void> {
  const { host, port, logLevel, apiKey, llm, monthlyAllowance } = readEssayServiceConfig(process.env);
  const redact = createRedact([apiKey, llm?.apiKey ?? ''].filter(Boolean));
  // Standard output is for the address of the service and its writer; errors go to standard error.
  const log = createLog({ level: logLevel, redact, destination: process.stderr });
  const app = createEssayService({ apiKey, writer: createEssayWriter(llm), monthlyAllowance, log });
  await runService({ name: 'essay', app, host, port });
  process.stdout.write(`It writes with ${describeWriter(llm)}.\n`);
}
