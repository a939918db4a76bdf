import { KNOWN_SERVERS, SERVER_KINDS, type ServerKind } from '../core/model-server.ts'
import { parseUrl } from '../core/parse-url.ts'
import { list, words } from './peer-folder.ts'
import type { FoundSecret, SetupDraft } from './setup-draft.ts'
import { shownText } from './setup-draft.ts'

interface KnownServer {
  readonly kind?: ServerKind
  /** Absent: the server of Parley's own block of that name. */
  readonly baseUrl?: string
}

/** The servers that other programs know by a name, besides those that Parley does, with the address of their pages. */
const OTHERS: ReadonlyMap<string, KnownServer> = new Map<string, KnownServer>([
  ...SERVER_KINDS.map((kind) => [kind, { kind }] as const),
  ['zai', { baseUrl: 'https://api.z.ai/api/paas/v4' }],
  ['minimax', { kind: 'anthropic', baseUrl: 'https://api.minimax.io/anthropic' }],
  ['huggingface', { baseUrl: 'https://router.huggingface.co/v1' }],
])
/** The variables with the key of a server whose variable is not named after it. */
const VARIABLES: ReadonlyMap<string, readonly string[]> = new Map([
  ['google', ['GEMINI_API_KEY', 'GOOGLE_API_KEY']],
  ['zai', ['ZAI_API_KEY', 'GLM_API_KEY']],
  ['huggingface', ['HF_TOKEN']],
])
const OTHER_NAMES: Readonly<Record<string, string>> = { gemini: 'google', hf: 'huggingface', 'z-ai': 'zai' }

/** The servers of models as the settings of the other program describe them. */
export interface PeerModels {
  /** Returns the address and protocol of a server that its settings describe. */
  described(server: string): { readonly baseUrl?: string; readonly kind?: ServerKind } | undefined
  /** Returns the key of a server; the variables are those that usually hold it. */
  key(server: string, variables: readonly string[]): FoundSecret | undefined
}

/** Returns the name of a server as Parley's configuration has it. */
export function serverNamed(name: string): string {
  const plain = name.toLowerCase().replace(/[^a-z0-9]+/g, '-')
  return OTHER_NAMES[plain] ?? plain.replace(/^[^a-z]+|-+$/g, '')
}

/**
 * Gives an agent the model `<server>/<model>` and those that answer in its place. A model whose server has no key in
 * the files of the other program is not taken: an agent with it could not answer, and one is asked for.
 */
export function takeModels(
  draft: SetupDraft,
  agent: string,
  { models, from, peer }: { readonly models: readonly string[]; readonly from: string; readonly peer: PeerModels },
): void {
  const usable = models.flatMap((model) => usableModel(draft, model, { from, peer }) ?? [])
  const [model, ...fallback] = usable
  if (model === undefined) return
  draft.agent(agent, { model, fallback })
  draft.took(`Agent ${agent}: model ${shownText(usable.join(', then '), 120)}.`)
}

function usableModel(
  draft: SetupDraft,
  model: string,
  { from, peer }: { readonly from: string; readonly peer: PeerModels },
): string | undefined {
  const [, typed = '', name = ''] = /^([^/\s]+)\/([^\s{}]+)$/.exec(model.trim()) ?? []
  const shown = `${from}: the model ${shownText(model)}`
  const server = serverNamed(typed)
  const { kind, baseUrl } = { ...knownServer(server), ...(peer.described(typed) ?? peer.described(server)) }
  const variables = VARIABLES.get(server) ?? [`${server.toUpperCase().replaceAll('-', '_')}_API_KEY`]
  if (name === '' || (kind === undefined && baseUrl === undefined)) {
    draft.left(`${shown} names no server that is known here; choose one here, or write it under models.`)
    return undefined
  }
  const secret = peer.key(typed, variables) ?? peer.key(server, variables)
  if (secret === undefined && needsKey(baseUrl)) {
    draft.left(`${shown} has no key in these files; set ${variables[0]}, or choose a model here.`)
    return undefined
  }
  const block = { name: server, kind: kind ?? 'openai', baseUrl, secret } as const
  if (draft.server(block)) return `${server}/${name}`
  draft.left(`${shown} has a server whose name or address cannot be used; write it under models.`)
  return undefined
}

function knownServer(name: string): KnownServer | undefined {
  const baseUrl = KNOWN_SERVERS.get(name)
  return baseUrl === undefined ? OTHERS.get(name) : { baseUrl }
}

/** Returns false for a server of one's own: on this machine or in its network. */
function needsKey(baseUrl: string | undefined): boolean {
  if (baseUrl === undefined || parseUrl(baseUrl) === undefined) return true
  const { hostname } = new URL(baseUrl)
  return !/^(?:localhost|127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|\[::1\]|[\w-]+$)|\.(?:local|lan|internal)$/.test(
    hostname,
  )
}

/** Returns the models that a setting names: a text, or the first and those in its place. */
export function modelsIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return list(value).flatMap((one) => words(one) ?? [])
  const { primary, fallbacks } = value as Readonly<Record<string, unknown>>
  return [primary, ...list(fallbacks)].flatMap((one) => words(one) ?? [])
}
