import type { Command } from 'commander';
import { importableCountries } from '../banks/import/files/formats.ts';
import { registers } from './import-banks.ts';

/** Prints a script that completes the command. It contains all words: starting Node.js at each use would take too long. */
export function printCompletion(program: Command, shell: 'bash' | 'zsh' | 'fish'): void {
  const commands = listCommands(program);
  const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };
  process.stdout.write(scripts[shell](commands));
}

interface CommandWords {
  name: string;
  description: string;
  /** What follows an option; null: nothing. */
  options: readonly { long: string; description: string; value: 'file' | 'text' | readonly string[] | null }[];
  /** The values of each argument; null: a file. */
  arguments: readonly (readonly string[] | null)[];
  /** Whether the last argument can be repeated. */
  isVariadic: boolean;
}

function listCommands(program: Command): CommandWords[] {
  const help = program.createHelp();
  const commands = help.visibleCommands(program);
  return commands.map((command) => ({
    name: command.name(),
    description: command.description(),
    options: help.visibleOptions(command).map(({ long, description, flags, argChoices }) => ({
      long: long ?? '',
      description,
      value: argChoices ?? readValueKind(flags),
    })),
    isVariadic: command.registeredArguments.some(({ variadic }) => variadic),
    arguments: command.registeredArguments.map((argument) => {
      if (argument.name() === 'file' || argument.name() === 'folder') return null;
      if (argument.name() === 'country') return [...importableCountries(), registers];
      return argument.name() === 'command' ? commands.map((each) => each.name()) : (argument.argChoices ?? []);
    }),
  }));
}

/** What follows an option, by its flags: `--dotenv <file>`. */
function readValueKind(flags: string): 'file' | 'text' | null {
  if (/ <(file|folder)>$/.test(flags)) return 'file';
  return flags.endsWith('>') ? 'text' : null;
}

function bashScript(commands: readonly CommandWords[]): string {
  const cases = commands.flatMap(({ name, options, arguments: values, isVariadic }) => [
    `    ${name}:-) list='${options.map(({ long }) => long).join(' ')}' ;;`,
    ...values.map(
      (choices, index) =>
        `    ${name}:${isVariadic ? '*' : index}) ${choices ? `list='${choices.join(' ')}'` : 'files=1'} ;;`,
    ),
  ]);
  const allOptions = commands.flatMap((command) => command.options);
  const optionsBefore = (value: 'file' | 'text') => {
    const options = allOptions.filter((option) => option.value === value);
    return [...new Set(options.map(({ long }) => long))].join('|');
  };
  const choices = allOptions.flatMap(({ long, value }) =>
    Array.isArray(value) ? [`    ${long}) list='${value.join(' ')}' files='' ;;`] : [],
  );
  return `\
_ledgerquill() {
  local current="\${COMP_WORDS[COMP_CWORD]}" list='' files='' position=0 i
  for ((i = 2; i < COMP_CWORD; i++)); do
    [[ "\${COMP_WORDS[i]}" == -* ]] || position=$((position + 1))
  done
  [[ "$current" == -* ]] && position=-
  case "\${COMP_WORDS[1]}:$position" in
${cases.join('\n')}
  esac
  if ((COMP_CWORD == 1)); then
    list='${commands.map(({ name }) => name).join(' ')} --help --version'
  fi
  case "\${COMP_WORDS[COMP_CWORD - 1]}" in
    ${optionsBefore('file')}) list='' files=1 ;;
    ${optionsBefore('text')}) list='' files='' ;;
${choices.join('\n')}
  esac
  local IFS=$'\\n'
  COMPREPLY=($(compgen \${files:+-f} -W "\${list// /$IFS}" -- "$current"))
}
complete -o filenames -F _ledgerquill ledgerquill
`;
}

/** Z shell runs scripts for Bash. */
function zshScript(commands: readonly CommandWords[]): string {
  return `\
(( $+functions[compdef] )) || { autoload -U compinit && compinit; }
autoload -U bashcompinit && bashcompinit
${bashScript(commands)}`;
}

function fishScript(commands: readonly CommandWords[]): string {
  const lines = commands.flatMap(({ name, description, options, arguments: values }) => {
    const isUsed = `-n '__fish_seen_subcommand_from ${name}'`;
    return [
      `-n __fish_use_subcommand -a ${name} -d ${quoteForShell(description)}`,
      ...options.map(({ long, description, value }) => {
        return [isUsed, '-l', long.slice(2), ...fishValue(value), '-d', quoteForShell(description)].join(' ');
      }),
      ...values.map((choices) => `${isUsed} ${choices ? `-a '${choices.join(' ')}'` : '-F'}`),
    ];
  });
  return ['-f', ...lines].map((line) => `complete -c ledgerquill ${line}\n`).join('');
}

function fishValue(value: CommandWords['options'][number]['value']): string[] {
  if (value === null) return [];
  if (value === 'file') return ['-r', '-F'];
  return value === 'text' ? ['-x'] : ['-x', '-a', `'${value.join(' ')}'`];
}

function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "\\'")}'`;
}
