import { parseUrl } from '../core/parse-url.ts'
import { list, words } from './peer-folder.ts'
import type { FoundSecret, SetupDraft } from './setup-draft.ts'
import { shownText } from './setup-draft.ts'

interface KnownServer {
  readonly kind: 'openai' | 'anthropic'
  /** Absent: the server of Parley's own block of that name. */
  readonly baseUrl?: string
  /** The variables with its key, as these programs and the servers' own pages name it; none: it needs no key. */
  readonly variables: readonly string[]
}

/** The servers of models that other programs know by a name, with the address that their pages give. */
const KNOWN: Readonly<Record<string, KnownServer>> = {
  anthropic: { kind: 'anthropic', variables: ['ANTHROPIC_API_KEY'] },
  openai: { kind: 'openai', variables: ['OPENAI_API_KEY'] },
  openrouter: { kind: 'openai', baseUrl: 'https://openrouter.ai/api/v1', variables: ['OPENROUTER_API_KEY'] },
  groq: { kind: 'openai', baseUrl: 'https://api.groq.com/openai/v1', variables: ['GROQ_API_KEY'] },
  mistral: { kind: 'openai', baseUrl: 'https://api.mistral.ai/v1', variables: ['MISTRAL_API_KEY'] },
  deepseek: { kind: 'openai', baseUrl: 'https://api.deepseek.com/v1', variables: ['DEEPSEEK_API_KEY'] },
  xai: { kind: 'openai', baseUrl: 'https://api.x.ai/v1', variables: ['XAI_API_KEY'] },
  google: {
    kind: 'openai',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    variables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
  },
  zai: { kind: 'openai', baseUrl: 'https://api.z.ai/api/paas/v4', variables: ['ZAI_API_KEY', 'GLM_API_KEY'] },
  moonshot: { kind: 'openai', baseUrl: 'https://api.moonshot.ai/v1', variables: ['MOONSHOT_API_KEY'] },
  minimax: { kind: 'anthropic', baseUrl: 'https://api.minimax.io/anthropic', variables: ['MINIMAX_API_KEY'] },
  huggingface: { kind: 'openai', baseUrl: 'https://router.huggingface.co/v1', variables: ['HF_TOKEN'] },
  ollama: { kind: 'openai', baseUrl: 'http://127.0.0.1:11434/v1', variables: [] },
  lmstudio: { kind: 'openai', baseUrl: 'http://127.0.0.1:1234/v1', variables: [] },
}
const OTHER_NAMES: Readonly<Record<string, string>> = { gemini: 'google', hf: 'huggingface', 'z-ai': 'zai' }

/** The servers of models as the settings of the other program describe them. */
export interface PeerModels {
  /** Returns the address and protocol of a server that its settings describe. */
  described(server: string): { readonly baseUrl?: string; readonly kind?: 'openai' | 'anthropic' } | undefined
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
 * the files of the other program is not taken: an agent with it could not answer, and `parley init` asks for one.
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
  const { kind, baseUrl, variables } = serverOf(typed, peer)
  if (name === '' || (kind === undefined && baseUrl === undefined)) {
    draft.left(`${shown} names no server that is known here; choose one in parley init, or write it under models.`)
    return undefined
  }
  const secret = peer.key(typed, variables) ?? peer.key(server, variables)
  if (secret === undefined && needsKey(baseUrl)) {
    const variable = variables[0] ?? `models.${server}.apiKey`
    draft.left(`${shown} has no key in these files; set ${variable}, or choose in parley init.`)
    return undefined
  }
  const block = { name: server, kind: kind ?? 'openai', baseUrl, secret } as const
  if (draft.server(block)) return `${server}/${name}`
  draft.left(`${shown} has a server whose name or address cannot be used; write it under models.`)
  return undefined
}

function serverOf(typed: string, peer: PeerModels): Partial<KnownServer> & Pick<KnownServer, 'variables'> {
  const server = serverNamed(typed)
  const known = Object.hasOwn(KNOWN, server) ? KNOWN[server] : undefined
  return { ...known, ...(peer.described(typed) ?? peer.described(server)), variables: known?.variables ?? [] }
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
