import type { Config } from './config.ts'
import { Secret } from './secrets.ts'

/** Parts of a configuration that a reload takes over, or that are no settings. */
const NOT_LATER: ReadonlySet<string> = new Set([
  'file',
  'routing',
  'warnings',
  'scriptFolder',
  'dataDir',
  'down',
  'secrets',
])
/** Settings whose name in the file is another one. */
const IN_THE_FILE: Readonly<Record<string, string>> = {
  sessionTools: 'tools.sessions',
  toolPolicy: 'tools.policy',
  toolResults: 'tools.results',
  web: 'tools.web',
  mcp: 'tools.mcp',
  ownTools: 'tools.own',
  'store.path': 'store.url',
}

/**
 * Pure: the settings that a reload leaves as they are, by their names in the file: they take effect at the next start.
 */
export function laterChanges(running: Config, next: Config): readonly string[] {
  const [before, after] = [settingsOf(running), settingsOf(next)]
  const names = new Set([...before.keys(), ...after.keys()])
  return [...names].filter((name) => !same(before.get(name), after.get(name))).sort()
}

function settingsOf(config: Config): ReadonlyMap<string, unknown> {
  const parts = Object.entries(config).filter(([part]) => !NOT_LATER.has(part))
  const down = config.down.map(({ channel, account }) => [`channels.${channel}.accounts.${account}`, 'down'] as const)
  return new Map([...parts.flatMap(([part, value]) => settingsIn(part, value)), ...down])
}

function settingsIn(part: string, value: unknown): (readonly [string, unknown])[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [[part, value]]
  return Object.entries(value).map(([key, one]) => [nameOf(part, key), part === 'channels' ? accountsOf(one) : one])
}

function nameOf(part: string, key: string): string {
  return IN_THE_FILE[`${part}.${key}`] ?? `${IN_THE_FILE[part] ?? part}.${key}`
}

/** The dimensions of a channel belong to the policy. */
function accountsOf(block: unknown): unknown {
  return typeof block === 'object' && block !== null && 'accounts' in block ? block.accounts : block
}

function same(one: unknown, other: unknown): boolean {
  if (one instanceof Secret && other instanceof Secret) return one.reveal() === other.reveal()
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null)
    return Object.is(one, other)
  const keys = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...keys].every((key) => same(Reflect.get(one, key), Reflect.get(other, key)))
}
