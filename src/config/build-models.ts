import { NO_MODEL } from '../core/model.ts'
import {
  isReady,
  KNOWN_SERVERS,
  keyRemedy,
  namesKind,
  noSuchServer,
  SCRIPTED,
  SERVER_KINDS,
  type ServerKind,
  serverOf,
  splitModel,
} from '../core/model-server.ts'
import type { Config, ModelServer } from './config.ts'
import { suggestion } from './describe-issue.ts'
import { type ConfigPath, formatPath, type Mistake } from './mistake.ts'
import type { ConfigFile } from './schema.ts'
import { Secret } from './secrets.ts'
import type { Keyless } from './set-aside.ts'

type ServerBlock = NonNullable<ConfigFile['models'][string]>

function usualAddress(name: string): string | undefined {
  return KNOWN_SERVERS.get(name.replaceAll('-', ''))
}

/** Returns the servers of models. */
export function buildModels({ models }: ConfigFile, keyless: Keyless): Config['models'] {
  return Object.fromEntries(Object.entries(models).map(([name, block]) => [name, serverFrom(name, block, keyless)]))
}

function serverFrom(name: string, { kind, apiKey, baseUrl }: ServerBlock, keyless: Keyless): ModelServer {
  const keyAbsent = keyless.get(name)
  return {
    kind,
    ...(apiKey === undefined ? {} : { apiKey: new Secret(apiKey) }),
    ...(baseUrl === undefined ? {} : { baseUrl: beforeCalls(kind, baseUrl) }),
    ...(keyAbsent === undefined ? {} : { keyAbsent }),
  }
}

/** The ends of addresses that the client adds to them itself; documentation shows them to be copied. */
const CALLS: Readonly<Record<ServerKind, RegExp>> = {
  openai: /\/(chat\/completions|completions|responses)$/i,
  anthropic: /(\/v1)?\/messages$|\/v1$/i,
}

/** Returns an address without what the client adds to it, and without slashes at its end. */
function beforeCalls(kind: ServerKind, baseUrl: string): string {
  return withoutSlashes(withoutSlashes(baseUrl).replace(CALLS[kind], ''))
}

function withoutSlashes(url: string): string {
  return url.replace(/\/+$/, '')
}

/** Returns what is wrong with the servers of models: names, keys and addresses. */
export function modelMistakes({ models }: ConfigFile, keyless: Keyless): Mistake[] {
  return Object.entries(models).flatMap(([name, block]) => [
    ...nameMistakes(name),
    ...accessMistakes(name, block, keyless),
    ...keyMistakes(name, block),
    ...addressMistakes(name, block),
  ])
}

const NAME = /^[a-z][a-z0-9-]*$/
/** Names that stand for something else in the names of models. */
const TAKEN: ReadonlyMap<string, string> = new Map([
  [SCRIPTED, 'stands for scripts'],
  ['audio', 'stands for the audio endpoint'],
])

function nameMistakes(name: string): Mistake[] {
  const path = ['models', name]
  const taken = TAKEN.get(name)
  if (taken !== undefined) return [at(path, `the name ${name} ${taken}; take another one`)]
  if (NAME.test(name)) return []
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+|-+$/g, '')
  const instead = plain === '' ? '' : `, such as ${plain}`
  return [at(path, `the name must be lower-case letters, digits and -, a letter first${instead}`)]
}

/** Without an address the key of another service would go to the public API. */
function accessMistakes(name: string, { kind, apiKey, baseUrl }: ServerBlock, keyless: Keyless): Mistake[] {
  const usual = usualAddress(name)
  if (usual !== undefined && baseUrl === undefined) {
    const place = kind === 'anthropic' ? '' : `${usual}, or `
    return [at(['models', name, 'baseUrl'], `is missing; write ${place}where your ${name} is`)]
  }
  if (keyless.has(name) || isReady({ kind, apiKey, ...(baseUrl === undefined ? {} : { baseUrl }) })) return []
  return [at(['models', name], 'needs apiKey, or baseUrl for a server that needs no key')]
}

/** The words that are copied with a key, or stay in the value of a variable that no shell has read. */
const COPIED: readonly (readonly [RegExp, string])[] = [
  [/^(export|setx?)\s/i, 'begins with a command of a shell; write the key alone'],
  [/^([a-z][a-z0-9_]*_)?(key|token|secret)\s*=\s*\S/i, 'begins with the name of a variable; write the key alone'],
]

function keyMistakes(name: string, { apiKey }: ServerBlock): Mistake[] {
  const path = ['models', name, 'apiKey']
  if (apiKey === undefined) return []
  const extra = COPIED.find(([pattern]) => pattern.test(apiKey))
  if (extra !== undefined) return [at(path, extra[1])]
  return /^[\x21-\x7e]+$/.test(apiKey)
    ? []
    : [at(path, 'has a space, a line break or a letter that no key has; copy the key again')]
}

function addressMistakes(name: string, { baseUrl }: ServerBlock): Mistake[] {
  const path = ['models', name, 'baseUrl']
  if (baseUrl === undefined) return []
  const { username, password, search, hash } = new URL(baseUrl)
  if (username + password !== '') return [at(path, 'must have no name or password in it; use apiKey')]
  return search + hash === '' ? [] : [at(path, 'must end with its path: take out what follows ? or #')]
}

function at(path: ConfigPath, words: string): Mistake {
  return { path, message: `${formatPath(path)}: ${words}` }
}

/** The models of agents that name none, by kind; the first kind that there is a key for counts. */
const DEFAULT_MODELS: readonly (readonly [kind: ServerKind, model: string])[] = [
  ['anthropic', 'claude-sonnet-5-5'],
  ['openai', 'gpt-5.4'],
]

/**
 * Returns the model of agents that name none, or why there is none. What models a server of one's own has is not known;
 * that of `models.anthropic` is taken for a way to the public API where it has a key.
 */
export function defaultModel(servers: Config['models']): { readonly model: string; readonly why?: string } {
  const all = Object.entries(servers)
  for (const [kind, model] of DEFAULT_MODELS) {
    const [found] = all
      .filter(([name, one]) => one.kind === kind && (one.baseUrl === undefined || hasOwnModels(name, one)))
      .toSorted(([one], [other]) => Number(namesKind(other)) - Number(namesKind(one)))
    if (found !== undefined) return { model: `${found[0]}/${model}` }
  }
  const silent = 'so the agent can only say that it has none'
  const [own] = all
  if (own === undefined)
    return { model: NO_MODEL, why: `no model key is set, ${silent}; set ANTHROPIC_API_KEY or OPENAI_API_KEY` }
  return {
    model: NO_MODEL,
    why: `names no model, ${silent}; write ${own[0]}/<model> as models.${own[0]}.baseUrl calls it`,
  }
}

function hasOwnModels(name: string, { apiKey, keyAbsent }: ModelServer): boolean {
  return name === 'anthropic' && (apiKey !== undefined || keyAbsent !== undefined)
}

/** Adds a warning for each model whose server has no key, and a mistake for each of a server that is not there. */
export function checkModels(
  file: ConfigFile,
  servers: Config['models'],
  found: { readonly mistakes: Mistake[]; readonly warnings: string[] },
): void {
  for (const [path, id] of namedModels(file)) {
    const [name, model] = splitModel(id)
    if (name === SCRIPTED || serverOf(servers, name) !== undefined) continue
    if (namesKind(name))
      found.warnings.push(`${formatPath(path)}: ${id} has no key and cannot answer; ${keyRemedy(name)}`)
    else found.mistakes.push(at(path, unknownServer(name, model, Object.keys(servers))))
  }
}

/** Returns every model that the file names, but for those of its prices. */
function namedModels({
  agents,
  workspaces = [],
  routing,
  budgets,
}: ConfigFile): readonly (readonly [ConfigPath, string])[] {
  const inList = (path: ConfigPath, models: readonly (string | undefined)[]) =>
    models.map((model, nth) => [[...path, nth], model] as const)
  return [
    ...agents.flatMap(({ model, summaryModel, models = [], fallback = [] }, index) => [
      [['agents', index, 'model'], model] as const,
      [['agents', index, 'summaryModel'], summaryModel] as const,
      ...inList(['agents', index, 'models'], models),
      ...inList(['agents', index, 'fallback'], fallback),
    ]),
    ...workspaces.map(({ model }, index) => [['workspaces', index, 'model'], model] as const),
    ...routing.access.groups.map(
      ({ precheck }, index) => [['routing', 'access', 'groups', index, 'precheck', 'model'], precheck?.model] as const,
    ),
    [['budgets', 'cheaperModel'], budgets.cheaperModel] as const,
  ].flatMap(([path, model]) => (model === undefined ? [] : [[path, model] as const]))
}

/** Returns which server is probably meant by a name under which there is none, as the end of a sentence. */
function nearServer(name: string, known: readonly string[]): string {
  return suggestion(name, [...known, ...SERVER_KINDS, SCRIPTED])
}

/**
 * Returns what is wrong with the server of a model that stands somewhere as a key; undefined for one that may be so.
 */
export function strangeServer(id: string, servers: Config['models']): string | undefined {
  const [name] = splitModel(id)
  if (namesKind(name) || TAKEN.has(name) || serverOf(servers, name) !== undefined) return undefined
  const known = Object.keys(servers)
  return `${noSuchServer(name, known)}${nearServer(name, known)}`
}

/** A model that has a slash in its own name is easily written without its server. */
function unknownServer(name: string, model: string, known: readonly string[]): string {
  const told = noSuchServer(name, known)
  const near = nearServer(name, known)
  if (near !== '') return `${told}${near}`
  const usual = usualAddress(name)
  if (usual !== undefined) return `${told}; describe it there, with its baseUrl (${usual})`
  return known.length === 0
    ? `${told}; describe it there, or write anthropic/<model>, openai/<model>, scripted/echo or scripted/<file>`
    : `${told}; describe it there, or write <server>/${name}/${model} for a model of one of these`
}
