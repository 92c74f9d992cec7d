#!/usr/bin/env node
import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { Argument, Command, CommanderError, InvalidArgumentError, Option, type OptionValues } from 'commander';
import { paymentSchemes } from '../banks/scheme-registers.ts';
import { ConfigError, errorCodeOf, serviceNames } from '../base/errors.ts';
import { readVersion } from '../base/process/package-files.ts';
import { ignoreClosedOutput, type MainOptions, runMain } from '../base/process/run-main.ts';
import { print, printError } from '../base/process/terminal.ts';
import { severities } from '../check/finding.ts';
import { profiles } from '../check/pain/profiles.ts';

/*
 * The `ledgerquill` command. Exit codes: 0; 1 for a failure or a wrong configuration; 2 for wrong usage. Those of `check`: 1 for
 * findings, 2 for any failure.
 */

const profileText =
  'The rules for payment messages: ISO 20022, SEPA, German (dk) or Swiss banks (sps); auto: those that a payment says it follows.';

const checkHelp = `
Exit codes: 0 no finding of the severity of --fail-on or a more serious one, 1 there is one, 2 it could not be checked.
Columns that are added to tables: status, problems, suggestion, bank, bic, bic_match, national_check, iban.
For XML, one finding a line: file, code, severity, line, xpath, batch, payee, amount, end_to_end_id, message, suggestion.
Cells that spreadsheets would take for formulas get an apostrophe before them, but in JSON.

Examples:
  ledgerquill check payees.csv --output checked.csv
  ledgerquill check payroll.xlsx --dry-run
  ledgerquill check payments.xml
  ledgerquill check payments.xml --fix fixed.xml
  ledgerquill check payments-03.xml --renovate payments-09.xml
  ledgerquill check payees.csv --format json --quiet | jq -r 'select(.status != "VALID") | .row'
  LEDGERQUILL_KEY=lq_... ledgerquill check payees.csv --gateway https://gateway.example.com`;

/** The commands that read no variables of the environment. */
const withoutVariables: ReadonlySet<string> = new Set(['schema', 'api-key', 'explain']);

// Help and wrong usage are printed before a command runs.
ignoreClosedOutput();

try {
  const program = createProgram();
  await program.parseAsync(readArguments(program), { from: 'user' });
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  // It has printed its message. Help and the version are errors with the exit code 0.
  process.exitCode = error.exitCode === 0 ? 0 : 2;
}

/** The command line. A subcommand loads its code when it runs. */
function createProgram(): Command {
  const program = new Command('ledgerquill')
    .description('A GraphQL gateway for a bank-data service and an essay service.')
    .version(readVersion(), '-V, --version', 'Print the version.')
    .helpOption('-h, --help', 'Print this help.')
    .helpCommand('help [command]', 'Print the help of a command.')
    .showHelpAfterError('Run it with --help for its usage.')
    .exitOverride()
    .configureOutput({ writeOut: print, writeErr: printError });

  const addCommand = (name: string, description: string, main: Main, options: MainOptions = {}) =>
    program
      .command(name)
      .description(description)
      .helpOption('-h, --help', 'Print this help.')
      .action(function () {
        return runMain(() => main(this.processedArgs, this.opts(), readDotenv(this)), options);
      });

  addCommand('start', 'Run the gateway until SIGTERM or SIGINT.', async (_, options) =>
    (await import('./start.ts')).start(options),
  )
    .option('--port <number>', 'The port; overrides PORT. 0: a free port.')
    .option('--host <address>', 'The address to listen on; overrides HOST.');
  addCommand(
    'check-config',
    'Print the configuration and check it, without a paid call.',
    async (_, options, dotenvNames) => (await import('./check-config.ts')).checkConfig(dotenvNames, options),
  ).option('--json', 'Print one JSON document.');
  addCommand(
    'try-essay',
    'Order one essay, which may be charged, and print the fields of the response for ESSAY_TEXT_FIELD.',
    async ([description], options) => (await import('./try-essay.ts')).tryEssay({ ...options, description }),
  )
    .argument('[description]', 'what the essay is about')
    .option('--words <number>', 'The largest number of words.', '100')
    .option('--yes', 'Order without asking first.');
  const printed = ['client', 'possibleTypes', 'apollo', 'graphcache', 'scopes'];
  addCommand('schema', 'Print the schema in SDL, as a subgraph, or a file for clients.', async (_, options) =>
    (await import('./print-schema.ts')).printSchema(options),
  )
    .option('--client', 'Print the schema for clients, without the directives and types of Federation.')
    .addOption(
      oneOf(printed, '--scopes', 'Print the subgraph with the scopes that its fields need, as @requiresScopes.'),
    )
    .addOption(oneOf(printed, '--possible-types', 'Print the types of unions and interfaces as JSON.'))
    .addOption(oneOf(printed, '--graphcache', 'Print a module with the cache of @urql/exchange-graphcache.'))
    .addOption(oneOf(printed, '--apollo', 'Print a module with the cache of Apollo Client.'));
  addCommand(
    'check',
    'Check files (CSV, TSV, XLSX, pain.001, pain.008) before a bank sees them, and write their rows with the results.',
    async ([files], options) => (await import('./check.ts')).check(files, options),
    { failureExitCode: 2 },
  )
    .argument('<file...>', 'the files; - is standard input')
    .option('--column <column>', 'The column with the IBANs, by title, letter or number; without it, found by content.')
    .option('--bic-column <column>', 'The column with the BICs.')
    .option('--name-column <column>', 'The column with the names of the payees.')
    .option('--sheet <name>', 'The only sheet of a workbook to check; without it, all visible ones with IBANs.')
    .option('--encoding <name>', 'The encoding of a text, such as windows-1250; without it, found by content.')
    .addOption(choose('--format <name>', 'Without it, as --output, CSV, or JSON for XML.', ['csv', 'xlsx', 'json']))
    .option('--output <file>', 'The file for the result; without it, standard output.')
    .option('--gateway <url>', 'Ask a running gateway with the key in LEDGERQUILL_KEY, not the bank-data service.')
    .addOption(choose('--profile <profile>', profileText, profiles).default('auto'))
    .option('--report <file>', 'A status report (pain.002) about the payment message: its statuses become findings.')
    .addOption(
      new Option(
        '--fix <file>',
        'Write a copy of the payment message with what is certain repaired, also addresses of lines, list the changes, and check the copy.',
      ).conflicts(['dryRun', 'renovate']),
    )
    .addOption(
      new Option(
        '--renovate <file>',
        'Write a copy of a payment message of 2009 or 2017 in the version of 2019, with addresses as --fix, list the changes, and check the copy.',
      ).conflicts('dryRun'),
    )
    .addOption(choose('--fail-on <level>', 'The least severity for the exit code 1.', severities).default('warning'))
    .option('--max-calls <number>', 'Stop paying after this number of calls; the other rows become NOT_CHECKED.')
    .option('--dry-run', 'Print how many calls it would cost. No call is made, and no row is written.')
    .option('--overwrite', 'Replace the files of --output, --fix and --renovate if they exist.')
    .option('--resume', 'Use the answers of a run that did not finish: nothing is asked twice.')
    .option('--quiet', 'No summary and no progress bar.')
    .addHelpText('after', checkHelp);
  addCommand('explain', 'Print what a code in a result means, and what would be right.', async ([codes]) =>
    (await import('./explain.ts')).explain(codes),
  ).argument('<code...>', 'such as ADDRESS_UNSTRUCTURED');
  addCommand(
    'import-banks',
    'Replace the bank directory of a country, or the register of a payment scheme. Without arguments: list the files to download.',
    async ([country, file], options) => (await import('./import-banks.ts')).runImport({ ...options, country, file }),
  )
    .argument('[country]', 'ISO 3166-1 alpha-2 code, such as DE; or EPC for a register of a payment scheme')
    .argument('[file]', 'the file, as downloaded from its publisher')
    .option('--date <date>', 'The date of the list, such as 2026-11-21, if the file has none.')
    .addOption(
      choose('--scheme <scheme>', 'That of an EPC register, if the name of the file has none.', paymentSchemes),
    )
    .option('--undo', 'Restore the directory or register that the last import replaced.')
    .option('--force', 'Accept a file with less than half of the present banks, or an older one.');
  addCommand(
    'banks',
    'Print a bank by country and bank code, all banks that begin with it, or the lists; offline.',
    async ([country, bankCode], options) => (await import('./look-up.ts')).lookUpBanks(country, bankCode, options),
  )
    .argument('[country]', 'ISO 3166-1 alpha-2 code, such as FR')
    .argument('[bankCode]', 'the bank code in IBANs, such as 30002, or its beginning')
    .option('--json', 'Print one JSON document.');
  addCommand('iban', 'Check an IBAN and print its bank; offline.', async ([iban], options) =>
    (await import('./look-up.ts')).lookUpIban(iban, options),
  )
    .argument('<iban>', 'the IBAN; in quotes if it has spaces')
    .option('--json', 'Print one JSON document.');
  addCommand(
    'backup',
    'Copy DATA_DIR (essays, counts, bank lists, the secret) into a new folder, while the gateway runs.',
    async ([folder]) => (await import('./backup.ts')).runBackup(folder),
  ).argument('<folder>', 'a new or empty folder');
  addCommand('restore', 'Copy a backup into DATA_DIR. The gateway must be stopped.', async ([folder], options) =>
    (await import('./backup.ts')).runRestore(folder, options),
  )
    .argument('<folder>', 'a folder that backup wrote')
    .option('--replace', 'Move the present files of DATA_DIR aside.');
  addCommand(
    'store',
    'check: read all files in DATA_DIR, also while the gateway runs. new: begin a new store if it or its secret is lost.',
    async ([action]) => {
      const { beginNewStore, checkStore } = await import('./store.ts');
      print(`${await (action === 'check' ? checkStore() : beginNewStore())}\n`);
    },
  ).addArgument(new Argument('<action>', 'what to do').choices(['check', 'new']));
  addCommand(
    'audit',
    'Sum or export the audit trail of paid calls, or compare it with the usage that a provider reports.',
    async ([action, file], options) => (await import('./audit.ts')).runAudit(action, file, options),
  )
    .addArgument(new Argument('<action>', 'what to do').choices(['sum', 'export', 'reconcile']))
    .argument('[file]', 'for reconcile: a CSV file with the columns day, calls and service')
    .addOption(choose('--service <service>', 'Whose calls the file has, without that column.', serviceNames))
    .option('--by <names>', 'What to sum by: caller, day, service, tool, operation, cause, outcome.', 'caller,day')
    .option('--from <day>', 'The first day (UTC), such as 2026-11-01.')
    .option('--to <day>', 'The last day.')
    .addOption(choose('--format <format>', 'The format of the export.', ['jsonl', 'csv']).default('jsonl'));
  addCommand(
    'allowance',
    'Show how many calls of this month are counted, set the count, or give calls back, for all gateways that share the store.',
    async ([action, service, calls]) => (await import('./allowance.ts')).runAllowance(action, service, calls),
  )
    .addArgument(new Argument('<action>', 'what to do').choices(['show', 'set', 'refund']))
    .addArgument(new Argument('[service]', 'whose calls').choices(serviceNames))
    .argument('[calls]', 'the number of calls');
  addCommand('caller-hash', "Print the name of a token's subject in log and audit trail.", async ([subject]) =>
    (await import('./audit.ts')).printCallerHash(subject),
  ).argument('<subject>', 'the value of the claim that names the caller');
  const purged = ['iban', 'bic', 'bankCode', 'country', 'allLookUps'];
  addCommand(
    'purge',
    'Take back cached look-ups: all gateways that share them look them up again. Needs OPERATOR_KEY.',
    async (_, { gateway, ...options }) => (await import('./purge.ts')).purge({ gateway, ...options }),
  )
    .requiredOption('--gateway <url>', 'The address of METRICS_PORT of one gateway, such as http://127.0.0.1:9464.')
    .addOption(oneOf(purged, '--iban <iban>', 'The answers with this IBAN; - reads it from standard input.'))
    .addOption(oneOf(purged, '--bic <bic>', 'The answers with this BIC; with 8 characters, of all branches.'))
    .addOption(oneOf(purged, '--bank-code <code>', 'The answers with this national bank code, of any country.'))
    .addOption(oneOf(purged, '--country <code>', 'The answers about banks and IBANs of this country.'))
    .addOption(oneOf(purged, '--all-look-ups', 'All answers of the bank-data service.'));
  addCommand(
    'api-key',
    'Make an API key for a caller, and print its entry in GATEWAY_API_KEYS.',
    async ([name, scopes]) => (await import('./api-key.ts')).printApiKey(name, scopes),
  )
    .argument('<name>', 'the name of the caller')
    .argument('[scopes]', 'what the caller may do, joined by +', 'bank-data+essays');
  addCommand(
    'bank-data-service',
    'Run the self-hosted bank-data service as a process of its own.',
    async (_, { port }) => (await import('../bank-data-service/run-bank-data-service.ts')).runBankDataService(port),
    { portVariable: '--port' },
  ).addOption(portOption(4001));
  addCommand(
    'essay-service',
    'Run the self-hosted essay service as a process of its own.',
    async (_, { port }) => (await import('../essay-service/run-essay-service.ts')).runEssayService(port),
    { portVariable: '--port' },
  ).addOption(portOption(4002));
  const dotenv = 'A file of lines NAME=value; variables of the environment have priority.';
  for (const command of program.commands) {
    if (withoutVariables.has(command.name())) continue;
    command.addOption(new Option('--dotenv <file>', dotenv).default('.env').env('ENV_FILE'));
  }
  for (const command of program.commands) refuseRepeated(command);
  return program;
}

/** The code of a command. @param dotenvNames the variables that were read from the file of `--dotenv` */
type Main = (args: Command['processedArgs'], options: OptionValues, dotenvNames: ReadonlySet<string>) => Promise<void>;

/** With an unknown command before or after `--help` or `help`, Commander prints the general help, and suggests no other name. */
function readArguments({ commands }: Command): string[] {
  const given = process.argv.slice(2);
  const names = given.filter((argument) => !argument.startsWith('-'));
  const name = names[0] === 'help' ? names[1] : names[0];
  const isKnown = name === undefined || name === 'help' || commands.some((command) => command.name() === name);
  return isKnown ? given : [name];
}

/** Of an option that is given twice, only the last value would be used. */
function refuseRepeated(command: Command): void {
  for (const option of command.options.filter(({ required }) => required)) {
    let isGiven = false;
    command.on(`option:${option.name()}`, () => {
      if (isGiven) command.error(`error: ${option.long} can be given once`);
      isGiven = true;
    });
  }
}

function choose(flags: string, description: string, choices: readonly string[]): Option {
  return new Option(flags, description).choices(choices);
}

/** An option that cannot be given with others of these. */
function oneOf(names: readonly string[], flags: string, description: string): Option {
  const option = new Option(flags, description);
  return option.conflicts(names.filter((name) => name !== option.attributeName()));
}

/** The port of a service that runs as a process of its own. */
function portOption(defaultPort: number): Option {
  return new Option('--port <number>', 'The port; 0: a free port.').default(defaultPort).argParser((text) => {
    const port = Number(text);
    if (/^\d+$/.test(text) && port <= 65_535) return port;
    throw new InvalidArgumentError('It must be a whole number from 0 to 65535.');
  });
}

/**
 * Adds the variables of the file of `--dotenv` to the environment, except those that are set there and not empty.
 * @returns the names that were added; none if the default file is missing
 * @throws ConfigError if it cannot be read
 */
function readDotenv(command: Command): ReadonlySet<string> {
  const path: string | undefined = command.opts().dotenv;
  const isDefault = command.getOptionValueSource('dotenv') === 'default';
  if (!path || (isDefault && !existsSync(path))) return new Set();
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError([`${path}: must be a file of lines NAME=value, but cannot be read (${errorCodeOf(error)})`]);
  }
  const added = Object.entries(parseEnv(text.replace(/^\uFEFF/, ''))).filter(([name]) => !process.env[name]?.trim());
  for (const [name, value] of added) process.env[name] = value;
  return new Set(added.map(([name]) => name));
}
