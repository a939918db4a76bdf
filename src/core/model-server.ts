import type { PriceList } from './budget.ts'
import { NO_MODEL } from './model.ts'
import type { ModelServerReport } from './operate-parts.ts'
import { LIST_PRICES } from './prices.ts'

/** The APIs that servers of models speak: Chat Completions, and the Messages API of Anthropic. */
export const SERVER_KINDS = ['openai', 'anthropic'] as const

export type ServerKind = (typeof SERVER_KINDS)[number]

/** One server under `models`, as far as others than its adapter need it. */
export interface ServerAccess {
  readonly kind: ServerKind
  /** The key in any form: only whether there is one matters here. */
  readonly apiKey?: unknown
  /** Absent: the public API of its kind. */
  readonly baseUrl?: string
  /** A key is configured and cannot be had now, for this reason. */
  readonly keyAbsent?: string
}

/** The servers by their names. */
export type ServersByName = Readonly<Record<string, ServerAccess>>

/** Stands in the place of a server in the names of models that are scripts. */
export const SCRIPTED = 'scripted'

/** The remedy for an agent without a model, as a clause. */
export const MODEL_NEEDED = 'set ANTHROPIC_API_KEY or OPENAI_API_KEY, or write agents[].model for a server of models'

/** The address of the vendor's own API, where none is configured. */
export const PUBLIC_APIS: Readonly<Record<ServerKind, string>> = {
  anthropic: 'https://api.anthropic.com',
  openai: 'https://api.openai.com/v1',
}

/** The usual addresses of well-known servers, by name. A server of such a name is never the public API of OpenAI. */
export const KNOWN_SERVERS: ReadonlyMap<string, string> = new Map([
  ['ollama', 'http://127.0.0.1:11434/v1'],
  ['lmstudio', 'http://127.0.0.1:1234/v1'],
  ['vllm', 'http://127.0.0.1:8000/v1'],
  ['llamacpp', 'http://127.0.0.1:8080/v1'],
  ['litellm', 'http://127.0.0.1:4000/v1'],
  ['openrouter', 'https://openrouter.ai/api/v1'],
  ['groq', 'https://api.groq.com/openai/v1'],
  ['mistral', 'https://api.mistral.ai/v1'],
  ['deepseek', 'https://api.deepseek.com/v1'],
  ['gemini', 'https://generativelanguage.googleapis.com/v1beta/openai'],
  ['google', 'https://generativelanguage.googleapis.com/v1beta/openai'],
  ['xai', 'https://api.x.ai/v1'],
  ['grok', 'https://api.x.ai/v1'],
  ['moonshot', 'https://api.moonshot.ai/v1'],
  ['kimi', 'https://api.moonshot.ai/v1'],
  ['together', 'https://api.together.xyz/v1'],
  ['fireworks', 'https://api.fireworks.ai/inference/v1'],
  ['cerebras', 'https://api.cerebras.ai/v1'],
])

/** The variables with the keys of the two servers that need no `kind`; no other server is given them. */
const VARIABLES: Readonly<Record<ServerKind, string>> = {
  anthropic: 'ANTHROPIC_API_KEY',
  openai: 'OPENAI_API_KEY',
}

/** Returns true for the names of the two servers whose kind is their name. */
export function namesKind(name: string): name is ServerKind {
  return (SERVER_KINDS as readonly string[]).includes(name)
}

/** Splits the name of a model: the first slash ends the server's name, the rest is the model's there. */
export function splitModel(id: string): readonly [server: string, model: string] {
  const slash = id.indexOf('/')
  return slash === -1 ? [id, ''] : [id.slice(0, slash), id.slice(slash + 1)]
}

/** Returns the server of a name; undefined where `models` has none. */
export function serverOf<Server extends ServerAccess>(
  servers: Readonly<Record<string, Server>>,
  name: string,
): Server | undefined {
  return Object.hasOwn(servers, name) ? servers[name] : undefined
}

/** Returns host and port of a server. */
export function hostOf({ kind, baseUrl }: ServerAccess): string {
  return new URL(baseUrl ?? PUBLIC_APIS[kind]).host
}

/** Returns true for a server that has what a call needs: a key, or an address of its own. */
export function isReady({ apiKey, baseUrl, keyAbsent }: ServerAccess): boolean {
  return keyAbsent === undefined && Boolean(apiKey || baseUrl)
}

/** Returns the variable with the key of a server; undefined for all but the two. */
export function variableOf(name: string): string | undefined {
  return namesKind(name) ? VARIABLES[name] : undefined
}

/** Returns how a server gets its key, as the end of a sentence. */
export function keyRemedy(name: string): string {
  const variable = variableOf(name)
  return `set models.${name}.apiKey${variable === undefined ? '' : ` or ${variable}`}, or models.${name}.baseUrl for a server that needs none`
}

/** Returns what to say of a name under which `models` has no server. */
export function noSuchServer(name: string, known: readonly string[]): string {
  return known.length === 0
    ? `models has no server ${name}, nor any other`
    : `models has no server ${name}; it has ${known.join(', ')}`
}

/** Returns in a sentence why a model cannot be called as it is configured; undefined where it can. */
export function whyUnusable(id: string, servers: ServersByName): string | undefined {
  const [name] = splitModel(id)
  if (name === SCRIPTED) return undefined
  if (id === NO_MODEL) return `The agent has no model: ${MODEL_NEEDED}.`
  const server = serverOf(servers, name)
  if (server === undefined && !namesKind(name)) return `${noSuchServer(name, Object.keys(servers))}.`
  if (server?.keyAbsent !== undefined) return `${server.keyAbsent}.`
  return server !== undefined && isReady(server) ? undefined : `models.${name} has no key: ${keyRemedy(name)}.`
}

/**
 * Returns the name under which the tables of windows and prices know a model: a server without an address of its own is
 * the public API of its kind, whatever it is called here.
 */
export function tableName(id: string, servers: ServersByName): string {
  const [name, model] = splitModel(id)
  const server = serverOf(servers, name)
  return server === undefined || server.baseUrl !== undefined ? id : `${server.kind}/${model}`
}

/** Returns the list prices of the servers that are a public API by another name. */
export function pricesOf(servers: ServersByName): PriceList {
  const named = Object.entries(servers).filter(([name, { baseUrl }]) => baseUrl === undefined && !namesKind(name))
  return Object.fromEntries(
    named.flatMap(([name, { kind }]) =>
      Object.entries(LIST_PRICES).flatMap(([listed, price]) => {
        const [server, model] = splitModel(listed)
        return server === kind ? [[`${name}/${model}`, price] as const] : []
      }),
    ),
  )
}

/** Returns the line of a server in a status. */
export function serverInWords({ name, kind, host, agents }: ModelServerReport): string {
  const what = kind === undefined ? 'not under models' : `${kind} at ${host}`
  const known = name === SCRIPTED ? name : `${name} (${what})`
  return `${known}, used by ${agents.length === 0 ? 'no agent' : agents.join(', ')}`
}

/** The tokens that models read at once, by their names; the first that matches counts. */
const WINDOWS: readonly (readonly [model: RegExp, tokens: number])[] = [
  [/^anthropic\/claude-/, 200_000],
  // Its window is 400,000 tokens, of which 128,000 are the answer's.
  [/^openai\/gpt-[5-9]/, 272_000],
  [/^openai\/gpt-4\.1/, 1_047_576],
  [/^openai\/(gpt-4o|gpt-4-turbo|chatgpt-4o)/, 128_000],
  [/^openai\/o\d/, 200_000],
]

/**
 * Returns how many tokens a model reads at once; undefined for one that is not known, such as a model of one's own. The
 * numbers are those that are documented for every account.
 */
export function windowOf(model: string): number | undefined {
  return WINDOWS.find(([name]) => name.test(model))?.[1]
}
