import { createInterface } from 'node:readline'
import { EXIT } from '../../core/errors.ts'
import type { CliPorts } from '../ports.ts'
import { oneLine } from '../print/plain.ts'
import { type ReadOptions, type ReadPorts, show } from '../show.ts'

/**
 * Shows the address to open and waits for the browser, here or elsewhere. With `--json` that address is a line of its
 * own, before the outcome. No token is shown.
 */
export async function loginMcp(
  ports: ReadPorts & Pick<CliPorts, 'mcp' | 'stdin'>,
  name: string,
  options: ReadOptions & { readonly port?: number; readonly localhost?: true },
): Promise<number> {
  const { config } = await ports.load(options.config)
  const over = new AbortController()
  try {
    const { scopes, missing } = await (await ports.mcp()).login(config, name, {
      ...(options.port === undefined ? {} : { port: options.port }),
      ...(options.localhost ? { byName: true } : {}),
      pasted: linesOf(ports.stdin, over.signal),
      open(url, redirect) {
        if (options.json) ports.stdout.write(`${JSON.stringify({ open: url, redirect })}\n`)
        else ports.stdout.write(`${instructions(url, redirect).join('\n')}\n`)
      },
      wrong: () => ports.stderr.write('This is not the address at which the browser has arrived for this login.\n'),
    })
    show(ports, options, {
      value: { server: name, login: 'kept', scopes, ...(missing.length === 0 ? {} : { missing }) },
      lines: (style) => [
        `${style.good('✓')} Logged in at ${name}${scopes.length === 0 ? '' : ` (${oneLine(scopes.join(' '))})`}.`,
        ...(missing.length === 0 ? [] : [`Asked for too, and not in the answer: ${oneLine(missing.join(' '))}.`]),
      ],
    })
    return EXIT.ok
  } finally {
    over.abort()
  }
}

/** The input is read from the first question for a line on: what comes before would be lost. */
async function* linesOf(input: NodeJS.ReadableStream, signal: AbortSignal): AsyncGenerator<string> {
  yield* createInterface({ input, signal })
}

function instructions(url: string, redirect: string): readonly string[] {
  return [
    'Open this address in a browser and log in:',
    '',
    `  ${url}`,
    '',
    `The browser then goes to ${redirect}. On another machine than this one that page cannot be`,
    'opened: copy its whole address and paste it here.',
  ]
}

/** Forgets a login; says whether its server has taken the tokens back. */
export async function logoutMcp(
  ports: ReadPorts & Pick<CliPorts, 'mcp'>,
  name: string,
  options: ReadOptions,
): Promise<number> {
  const { config } = await ports.load(options.config)
  const login = await (await ports.mcp()).logout(config, name)
  const words = {
    revoked: `Logged out at ${name}; its server has taken the tokens back.`,
    forgotten: `Logged out at ${name}. Its server was not told, or did not answer: take the access back there.`,
    none: `There was no login at ${name}.`,
  }
  show(ports, options, { value: { server: name, login }, lines: () => [words[login]] })
  return EXIT.ok
}
