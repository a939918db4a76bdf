import { resolve } from 'node:path'
import type { HookSettings } from './config.ts'
import type { Mistake } from './mistake.ts'
import { programAt, programMistake } from './program-at.ts'
import type { ConfigFile } from './schema.ts'
import { Secret } from './secrets.ts'

/** Messages of other chats may wait for it too. */
const LONGEST_SAVE_MS = 5_000

/** The variables of the daemon that any program needs; its secrets are not among them. */
const PASSED_ON = ['PATH', 'HOME', 'LOGNAME', 'USER', 'SHELL', 'TERM', 'LANG', 'TZ']

interface Place {
  /** The folder of the configuration. */
  readonly folder: string
  readonly env: Readonly<Record<string, string | undefined>>
}

type HookBlock = ConfigFile['hooks'][string]

/** Hosts of this machine, where a call needs no TLS. */
const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Builds the hooks. Each is a program or an address, never both. */
export function buildHooks({ hooks }: ConfigFile, { folder, env }: Place): readonly HookSettings[] {
  return Object.entries(hooks).map(([name, block]) => ({
    name,
    on: typeof block.on === 'string' ? [block.on] : [...new Set(block.on)],
    at: placeOf(block, { folder, env }),
    timeoutMs: block.timeoutMs,
  }))
}

function placeOf(block: HookBlock, { folder, env: all }: Place): HookSettings['at'] {
  const { command, args = [], env = {}, folder: own = '.', url = '', secret = '' } = block
  if (command === undefined) return { kind: 'address', url, secret: new Secret(secret) }
  const passed = PASSED_ON.flatMap((name) => (all[name] === undefined ? [] : [[name, all[name]] as const]))
  const covered = [...passed, ...Object.entries(env)].map(([name, value]) => [name, new Secret(value)])
  const place = { command: programAt(command, folder), folder: resolve(folder, own) }
  return { kind: 'command', ...place, args, env: Object.fromEntries(covered) }
}

export function hookMistakes({ hooks }: ConfigFile, folder: string): Mistake[] {
  return Object.entries(hooks).flatMap(([name, block]) => {
    const words = mistakeIn(block, folder)
    return words === undefined ? [] : [{ path: ['hooks', name], message: `hooks.${name}: ${words}` }]
  })
}

function mistakeIn(block: HookBlock, folder: string): string | undefined {
  const { on, command, args, env, folder: own, url, secret, timeoutMs } = block
  if (on.includes('before_save') && timeoutMs > LONGEST_SAVE_MS)
    return `timeoutMs must be at most ${LONGEST_SAVE_MS} with before_save: every message waits for it`
  if (command === undefined && url === undefined) return 'needs command or url'
  if (command !== undefined && (url ?? secret) !== undefined)
    return 'has both command and url or secret; keep one of them'
  if (command !== undefined) return programMistake(command, folder)
  if ((args ?? env ?? own) !== undefined) return 'args, env and folder belong to a command'
  if (secret === undefined) return 'needs secret, or whoever is called could not know that it is this daemon'
  const { protocol, hostname, username, password } = new URL(url ?? 'https://none')
  if (username + password !== '') return 'url must have no name or password in it'
  if (protocol !== 'https:' && !LOOPBACK.has(hostname))
    return 'url must begin with https://, unless it is on this machine'
  return undefined
}
