import { defaultModel } from '../../config/build-models.ts'
import type { ModelServer } from '../../config/config.ts'
import { Secret } from '../../config/secrets.ts'
import { DOORS } from '../../core/doors.ts'
import { ParleyError } from '../../core/errors.ts'
import type { ModelTrialOutcome, TrialFailure } from '../../core/model.ts'
import { KNOWN_SERVERS, namesKind, type ServerKind, splitModel, variableOf } from '../../core/model-server.ts'
import { parseUrl } from '../../core/parse-url.ts'
import { readBytes } from '../../core/read-bytes.ts'
import { readJson } from '../../core/read-json.ts'
import type { SetupPorts } from '../ports.ts'
import { oneLine } from '../print/plain.ts'
import { type Ask, Left } from './ask.ts'
import {
  checkAddress,
  fromSource,
  inFile,
  type KeptSecret,
  mistakeInAddress,
  type SecretSources,
} from './set-up-account.ts'

/** A server of models as the configuration will have it. */
interface Server {
  readonly name: string
  readonly kind: ServerKind
  readonly baseUrl?: string
  readonly key?: KeptSecret
}

export interface ChosenModel {
  /** `<server>/<model>`. */
  readonly id: string
  readonly server: Server
}

export interface ModelFlags {
  readonly model?: string
  readonly baseUrl?: string
  readonly apiKey?: string
}

export interface ModelAsked {
  /** The model that flags name; absent: none do. */
  readonly flagged?: ChosenModel
  /** The model that the configuration has; absent: none. */
  readonly known?: string
  readonly sources: SecretSources
  readonly tryModel: SetupPorts['tryModel']
}

/** Has a model chosen and asks it a question; undefined: the configuration stays as it is in this. */
export async function chooseModel(ask: Ask, given: ModelAsked): Promise<ChosenModel | undefined> {
  let asked: ModelAsked & { readonly refused?: ChosenModel } = given
  for (;;) {
    const chosen = asked.refused === undefined && asked.flagged ? asked.flagged : await choose(ask, asked)
    if (chosen === undefined) return undefined
    const outcome = await answers(ask, chosen, asked)
    if (outcome.ok) return chosen
    if (REFUSED.has(outcome.code)) {
      if (!ask.isPerson) throw new ParleyError('config', `${outcome.says}\nNothing was written. ${remedyOf(outcome)}`)
      asked = { ...asked, refused: chosen }
      continue
    }
    const next = await ask.choose({
      message: 'How to continue?',
      flag: '--model',
      options: [
        { value: 'other' as const, label: 'Choose another model' },
        { value: 'keep' as const, label: 'Keep it as it is', hint: 'it may be mended later' },
      ],
      otherwise: 'keep' as const,
    })
    if (next === 'keep') return chosen
    asked = { ...asked, refused: chosen }
  }
}

/** The failures of a model that never answers as it is set up: its key, its name, or its kind is wrong. */
const REFUSED: ReadonlySet<string> = new Set(['model_auth', 'model_unconfigured', 'model_invalid_request'])

type Way =
  | { readonly way: 'model'; readonly chosen: ChosenModel }
  | { readonly way: 'server'; readonly server: Server; readonly models: readonly string[] }
  | { readonly way: 'key'; readonly kind: ServerKind }
  | { readonly way: 'other' | 'later' }

/** Asks for a model; the server of one that did not answer is offered with its address and key as they were entered. */
async function choose(
  ask: Ask,
  { known, sources, refused }: ModelAsked & { readonly refused?: ChosenModel },
): Promise<ChosenModel | undefined> {
  if (!ask.isPerson) return undefined
  ask.say('', 'Looking for models ...')
  // A public server is chosen again with another key.
  const again = refused?.server.baseUrl === undefined ? [] : await modelsAgain(refused.server)
  const others = (await findModels(sources.env)).filter(({ label }) => again.every((one) => one.label !== label))
  const later = known === undefined ? 'Later' : `Keep ${known}`
  const hint = known === undefined ? 'the bot says that it has none until then' : 'as it is configured'
  const keep = { value: { way: 'later' } as Way, label: later, hint }
  const chosen = await ask.choose<Way>({
    message: 'Which model shall answer?',
    flag: '--model ollama/qwen3',
    options: [
      ...(known === undefined ? [] : [keep]),
      ...again,
      ...others,
      ...(['anthropic', 'openai'] as const)
        .filter((kind) => !sources.env[variableOf(kind) ?? '']?.trim())
        .map((kind) => ({ value: { way: 'key', kind } as Way, label: `${TITLES[kind]}`, hint: 'enter a key' })),
      { value: { way: 'other' }, label: 'Another server', hint: 'its address, and a key if it needs one' },
      ...(known === undefined ? [keep] : []),
    ],
  })
  switch (chosen.way) {
    case 'model':
      return chosen.chosen
    case 'server':
      return { id: `${chosen.server.name}/${await pick(ask, chosen.models)}`, server: chosen.server }
    case 'key':
      return withKey(ask, chosen.kind)
    case 'other':
      return anotherServer(ask)
    case 'later':
      return undefined
  }
}

/** Returns the models of a server whose model did not answer; one that lists none is asked for by a name. */
async function modelsAgain(server: Server): Promise<readonly Found[]> {
  const models = await modelsOf(server)
  if (models.length > 0) return offered(server, models, 'of the same server')
  return [{ value: { way: 'server', server, models }, label: server.name, hint: 'another of its models' }]
}

const TITLES: Readonly<Record<ServerKind, string>> = { anthropic: 'Anthropic (Claude)', openai: 'OpenAI (GPT)' }

interface Found {
  readonly value: Way
  readonly label: string
  readonly hint: string
}

/** A server of this machine offers each of its models; more than this are chosen in a second question. */
const MOST_OFFERED = 12

/** Returns the models of servers on this machine, then those for which the environment has a key. */
async function findModels(env: SecretSources['env']): Promise<readonly Found[]> {
  const local = await Promise.all(localServers(env).map(async (server) => ({ server, models: await modelsOf(server) })))
  const own = local.flatMap(({ server, models }) => offered(server, models, 'on this machine'))
  const keyed = await Promise.all(
    [...KNOWN_SERVERS].map(async ([name, address]) => {
      const variable = `${name.toUpperCase()}_API_KEY`
      const value = env[variable]?.trim()
      if (!value || !address.startsWith('https:')) return []
      const key = { reference: `\${env:${variable}}`, value }
      const server: Server = { name, kind: 'openai', baseUrl: address, key }
      return offered(server, await modelsOf(server), `by ${variable}`)
    }),
  )
  return [...own, ...publicModels(env), ...keyed.flat()]
}

function offered(server: Server, models: readonly string[], hint: string): Found[] {
  if (models.length > MOST_OFFERED)
    return [{ value: { way: 'server', server, models }, label: server.name, hint: `${models.length} models, ${hint}` }]
  return models.map((model) => {
    const id = `${server.name}/${model}`
    return { value: { way: 'model', chosen: { id, server } }, label: id, hint }
  })
}

/** The names of servers that people run on their own machine, as the configuration knows their addresses. */
const LOCAL = ['ollama', 'lmstudio', 'llamacpp', 'vllm']

function localServers(env: SecretSources['env']): readonly Server[] {
  return LOCAL.flatMap((name) => {
    const usual = KNOWN_SERVERS.get(name)
    const baseUrl = name === 'ollama' ? (ollamaAddress(env.OLLAMA_HOST?.trim()) ?? usual) : usual
    return baseUrl === undefined ? [] : [{ name, kind: 'openai' as const, baseUrl }]
  })
}

/** Returns the address that OLLAMA_HOST means, which may lack a scheme, a host or a port. */
export function ollamaAddress(host: string | undefined): string | undefined {
  if (!host) return undefined
  const whole = /^https?:\/\//.test(host) ? host : `http://${host.startsWith(':') ? `127.0.0.1${host}` : host}`
  const url = parseUrl(whole)
  if (url === undefined) return undefined
  if (!/^https?:\/\//.test(host) && url.port === '' && !host.endsWith(':80')) url.port = '11434'
  if (url.hostname === '0.0.0.0' || url.hostname === '[::]') url.hostname = '127.0.0.1'
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}/v1`
}

function publicModels(env: SecretSources['env']): readonly Found[] {
  return (['anthropic', 'openai'] as const).flatMap((kind) => {
    const variable = variableOf(kind) ?? ''
    const value = env[variable]?.trim()
    if (!value) return []
    const chosen = publicModel({ name: kind, kind, key: { reference: `\${env:${variable}}`, value } })
    return [{ value: { way: 'model', chosen } as Way, label: chosen.id, hint: `by ${variable}` }]
  })
}

/** Returns the usual model of a public API. */
function publicModel(server: Server): ChosenModel {
  return { id: defaultModel({ [server.name]: configured(server) }).model, server }
}

const LIST_WITHIN_MS = 2_500
/** Kinds of models that answer nobody. */
const NO_CHAT = /embed|rerank|whisper|tts|moderation|dall-e|bge-|clip/i

/** Returns the models of a server; none where nobody answers. */
async function modelsOf({ baseUrl, key }: Server): Promise<readonly string[]> {
  try {
    const headers = key === undefined ? {} : { authorization: `Bearer ${key.value}` }
    const response = await fetch(`${baseUrl}/models`, { headers, signal: AbortSignal.timeout(LIST_WITHIN_MS) })
    if (!response.ok || response.body === null) return []
    return idsIn(readJson(await readBytes(response.body, DOORS.modelAnswer.bytes), DOORS.modelAnswer))
  } catch {
    return []
  }
}

function idsIn(answer: unknown): readonly string[] {
  const data = typeof answer === 'object' && answer !== null && 'data' in answer ? answer.data : undefined
  if (!Array.isArray(data)) return []
  const ids = data.flatMap((one) => (typeof one?.id === 'string' && one.id !== '' ? [oneLine(one.id)] : []))
  return ids.filter((id) => !NO_CHAT.test(id))
}

async function pick(ask: Ask, models: readonly string[]): Promise<string> {
  if (models.length === 0) {
    const mistake = (text: string) => (text === '' ? 'is empty' : undefined)
    return ask.text({ message: 'The name of the model, as the server calls it', flag: '--model', mistake })
  }
  const options = models.map((model) => ({ value: model, label: model }))
  return ask.choose({ message: 'Which of its models?', flag: '--model', options })
}

async function withKey(ask: Ask, kind: ServerKind): Promise<ChosenModel> {
  const mistake = (text: string) => (/^\S{8,}$/.test(text) ? undefined : 'is no key: copy it whole, without spaces')
  const value = await ask.secret({ message: `${TITLES[kind]}: key (it is not shown)`, flag: '--api-key', mistake })
  return publicModel({ name: kind, kind, key: { ...inFile(`${kind}-api-key`), value } })
}

/** Asks for the address of a server, its key and its model. */
async function anotherServer(ask: Ask): Promise<ChosenModel> {
  const typed = await ask.text({
    message: 'The address of the server, such as http://192.168.1.5:11434, or its name',
    flag: '--base-url',
    mistake: (text) => (KNOWN_SERVERS.has(text.toLowerCase()) ? undefined : mistakeInAddress(withScheme(text))),
  })
  const open = await findServer(addressesOf(typed))
  if (open !== undefined) return { id: `${open.server.name}/${await pick(ask, open.models)}`, server: open.server }
  const message = `Its key (it is not shown; Enter: it needs none)`
  const value = await ask.secret({ message, flag: '--api-key', mistake: () => undefined })
  const addresses = addressesOf(typed, value)
  const found = value === '' ? undefined : await findServer(addresses, value)
  const server = found?.server ?? serverAt(addresses[0] ?? typed, value)
  if (found === undefined) {
    const there = await fetch(`${server.baseUrl}/models`, { signal: AbortSignal.timeout(LIST_WITHIN_MS) }).catch(
      noAnswer,
    )
    ask.say(
      `${server.baseUrl} ${there ? `lists no models ${value ? 'to this' : 'without a'} key` : 'does not answer'}.`,
    )
    const next = await ask.choose({
      message: 'How to continue?',
      flag: '--base-url',
      options: [
        { value: 'again', label: 'Enter the address and the key again' },
        { value: 'name', label: 'Name a model', hint: 'it may be one that lists none' },
      ],
    })
    if (next === 'again') return anotherServer(ask)
  }
  return { id: `${server.name}/${await pick(ask, found?.models ?? [])}`, server }
}

function noAnswer(): undefined {
  return undefined
}

interface FoundServer {
  readonly server: Server
  readonly models: readonly string[]
}

/** Returns the server at the first of the addresses that lists models. */
async function findServer(addresses: readonly string[], key = ''): Promise<FoundServer | undefined> {
  for (const address of addresses) {
    const server = serverAt(address, key)
    const models = await modelsOf(server)
    if (models.length > 0) return { server, models }
  }
  return undefined
}

/** Returns the server of an address, by the name that is known for it, else `own`. */
function serverAt(baseUrl: string, key: string): Server {
  const usual = baseUrl.replace('//localhost:', '//127.0.0.1:')
  const name = [...KNOWN_SERVERS].find(([, address]) => address === usual)?.[0] ?? 'own'
  return { name, kind: 'openai', baseUrl, ...(key === '' ? {} : { key: { ...inFile(`${name}-api-key`), value: key } }) }
}

/**
 * Returns the addresses that people mean by the name or address of a server, the likeliest first: it is often written
 * without a scheme, without the version at its end, or with the path of a call behind it.
 */
export function addressesOf(typed: string, key = ''): readonly string[] {
  const known = KNOWN_SERVERS.get(typed.toLowerCase())
  return known === undefined ? withSchemes(typed, key).flatMap(versionsOf) : [known]
}

function versionsOf(typed: string): readonly string[] {
  const url = parseUrl(typed)
  if (url === undefined) return [typed]
  const base = `${url.origin}${url.pathname.replace(CALLED, '').replace(/\/+$/, '')}`
  const versioned = `${base}/v1`
  const own = `${url.origin}/v1`
  if (base === url.origin) return [own, base]
  return [...new Set(/\/v\d\w*$/.test(base) ? [base, own] : [base, versioned, own])]
}

const CALLED = /\/(?:chat\/completions|completions|responses|models)\/*$/

/** A name without a dot, and names and addresses of private networks: such a machine mostly has no certificate. */
const NEARBY =
  /^(?:[^.]+|\[.*|.+\.(?:local|lan|home|internal|localdomain|home\.arpa)|(?:10|127|169\.254|192\.168|172\.(?:1[6-9]|2\d|3[01])|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\.[\d.]+)$/i

/** Returns an address with each scheme that it may have; nothing but a machine nearby is sent a key in the clear. */
function withSchemes(typed: string, key: string): readonly [string, ...string[]] {
  if (typed === '' || /^[a-z][a-z0-9+.-]*:\/\//i.test(typed)) return [typed]
  const [, host = '', port = ''] = /^(\[[^\]]*\]|[^/:]*)(?::(\d+))?/.exec(typed) ?? []
  if (NEARBY.test(host) && !/^8?443$/.test(port)) return [`http://${typed}`]
  return port === '' || key !== '' ? [`https://${typed}`] : [`https://${typed}`, `http://${typed}`]
}

function withScheme(typed: string): string {
  return withSchemes(typed, '')[0]
}

/** Returns the model that flags name, undefined where none do. Throws `invalid` for a flag that is wrong. */
export async function modelOfFlags(flags: ModelFlags, sources: SecretSources): Promise<ChosenModel | undefined> {
  const id = flags.model
  if (id === undefined) {
    if (flags.baseUrl === undefined && flags.apiKey === undefined) return undefined
    throw new ParleyError('invalid', '--base-url and --api-key belong to a model: add --model <server>/<model>.')
  }
  const [name, model] = splitModel(id)
  if (model === '' || !/^[a-z][a-z0-9-]*$/.test(name))
    throw new ParleyError('invalid', `--model ${id}: write <server>/<model>, such as ollama/qwen3.`)
  const kind = name === 'anthropic' ? 'anthropic' : 'openai'
  const address = addressIn(flags, name, sources)
  const key = await keyFor(name, { ...flags, ...address }, sources)
  const isTried = flags.baseUrl !== undefined && kind === 'openai'
  const found = isTried ? await findServer(addressesOf(flags.baseUrl, key?.value), key?.value) : undefined
  const baseUrl = found?.server.baseUrl ?? address.baseUrl
  const server: Server = { name, kind, ...(baseUrl === undefined ? {} : { baseUrl }), ...(key ? { key } : {}) }
  return { id, server }
}

/** Returns the address that a flag names, else the usual one of the server, if it has one. */
function addressIn(flags: ModelFlags, name: string, { env }: SecretSources): Pick<Server, 'baseUrl'> {
  const usual = localServers(env).find((one) => one.name === name)?.baseUrl ?? KNOWN_SERVERS.get(name)
  const baseUrl = flags.baseUrl === undefined ? usual : withScheme(flags.baseUrl)
  if (baseUrl === undefined) return {}
  if (flags.baseUrl !== undefined) checkAddress(baseUrl, '--base-url')
  return { baseUrl }
}

/** Returns the key of a server, by the flag or the variable of a public API. Throws `invalid` where it lacks one. */
async function keyFor(name: string, flags: ModelFlags, sources: SecretSources): Promise<KeptSecret | undefined> {
  const variable = variableOf(name)
  const isPublic = flags.baseUrl === undefined
  const inEnv = isPublic && variable !== undefined && sources.env[variable]?.trim() ? `env:${variable}` : undefined
  const source = flags.apiKey ?? inEnv
  if (source !== undefined) return fromSource(source, { by: '--api-key', file: `${name}-api-key` }, sources)
  if (!isPublic) return undefined
  const remedy = namesKind(name)
    ? `there is no key; set ${variable}, or add --api-key file:PATH`
    : `${name} is no server that is known; add --base-url http://...`
  throw new ParleyError('invalid', `--model ${flags.model}: ${remedy}.`)
}

function configured({ kind, baseUrl, key }: Server): ModelServer {
  return {
    kind,
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(key === undefined ? {} : { apiKey: new Secret(key.value) }),
  }
}

/** A server may have to load the model first. */
const ANSWER_WITHIN_MS = 120_000
const MOST_TOKENS = 200

/** Asks the model a question and shows its answer, the time and the price. */
async function answers(ask: Ask, { id, server }: ChosenModel, { tryModel }: ModelAsked): Promise<ModelTrialOutcome> {
  const question = 'Say hello to the people of a chat, in one short sentence.'
  ask.say('', `Asking ${id}: "${question}"`)
  const trial = { question, maxTokens: MOST_TOKENS, withinMs: ANSWER_WITHIN_MS, signal: ask.signal }
  const outcome = await tryModel({ [server.name]: configured(server) }, id, trial)
  if (ask.signal.aborted) throw new Left()
  if (!outcome.ok) {
    ask.say(`Wrong: ${outcome.says}`, `  -> ${remedyOf(outcome)}`)
    return outcome
  }
  const text = oneLine(outcome.text)
  ask.say(text === '' ? 'It has answered.' : `It says: "${text}"`)
  ask.say(`That took ${(outcome.ms / 1_000).toFixed(1)} s; ${priceIn(outcome.usd)}.`)
  return outcome
}

function remedyOf({ code, remedy }: TrialFailure): string {
  return code === 'model_auth' ? 'Choose it again, and enter another key.' : remedy.replace(/: parley init\.?$/, '.')
}

function priceIn(usd: number | undefined): string {
  if (usd === undefined) return 'no list has a price for it'
  return usd < 0.0001 ? 'it cost less than $0.0001' : `it cost $${usd.toFixed(4)}`
}
