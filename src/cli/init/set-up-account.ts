import { resolve } from 'node:path'
import type { Examination, SetupSecret } from '../../channels/setup.ts'
import { readBounded } from '../../config/read-bounded.ts'
import { ParleyError } from '../../core/errors.ts'
import type { Finding } from '../../core/finding.ts'
import { parseUrl } from '../../core/parse-url.ts'
import { readFirstBytes } from '../../core/read-bytes.ts'
import type { SetupPlatform } from '../ports.ts'
import { type Ask, Left } from './ask.ts'

/** An account as it stands in the configuration, if it does. */
export interface AccountAsked {
  readonly platform: SetupPlatform
  readonly account: string
  /** The settings that the configuration has for it, references unresolved. */
  readonly known: Readonly<Record<string, unknown>>
  /** The folder of the configuration. */
  readonly folder: string
  /** A daemon of ours receives for it now. */
  readonly beside: boolean
  /** The flags for it: the source of each secret by its setting, and `apiRoot`. */
  readonly given: ReadonlyMap<string, string>
  /** The secrets that another program had for it, by their settings. */
  readonly taken: Secrets
}

/** A secret and the reference that stands for it; `value`: it has to be written to the file that is referred to. */
export interface KeptSecret {
  readonly reference: string
  readonly value: string
  readonly file?: string
}

export interface AccountSetUp {
  readonly platform: SetupPlatform
  readonly account: string
  readonly settings: Readonly<Record<string, string>>
  readonly secrets: readonly KeptSecret[]
  readonly examination: Examination
}

export interface SecretSources {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly stdin: NodeJS.ReadableStream
}

/**
 * Asks for the secrets of an account that are not `there`, has the platform examine them, and asks again for those that
 * are refused. Throws `config` for a secret that is refused where nobody can be asked.
 */
export async function setUpAccount(ask: Ask, asked: AccountAsked, there: Secrets): Promise<AccountSetUp> {
  const { platform, account, known } = asked
  const apiRoot = asked.given.get('apiRoot') ?? known.apiRoot
  const own = typeof apiRoot === 'string' ? { apiRoot } : {}
  let ready = there
  if (missingSecrets(asked, ready).length === 0) ask.say('')
  else explain(ask, platform)
  for (;;) {
    const found = { ...ready, ...(await enterMissing(ask, asked, ready)) }
    const values = Object.fromEntries(Object.entries(found).map(([setting, { value }]) => [setting, value]))
    ask.say(`Asking ${platform.title} about it ...`)
    const request = { beside: asked.beside, signal: ask.signal }
    const examination = await platform.examine(account, { ...own, ...values }, request)
    if (ask.signal.aborted) throw new Left()
    report(ask, platform, examination)
    const next = await decide(ask, platform, examination)
    if (next === 'use') {
      const references = Object.entries(found).map(([setting, { reference }]) => [setting, reference] as const)
      const settings = { ...own, ...Object.fromEntries(references) }
      return { platform, account, settings, secrets: Object.values(found), examination }
    }
    ready = next === 'again' ? found : {}
  }
}

/** Says how to get the secrets, and what people are surprised by later. */
function explain(ask: Ask, { title, steps, cautions }: SetupPlatform): void {
  ask.say('', `${title}`, ...steps.map((step, at) => `  ${at + 1}. ${step}`))
  ask.say('', 'Good to know before:', ...cautions.map((caution) => `  - ${caution}`), '')
}

/** The secrets of an account, by their settings. */
export type Secrets = Readonly<Record<string, KeptSecret>>

/** Returns the secrets that need no question: of flags, of another program, and of variables that are set. */
export async function readySecrets(ask: Ask, asked: AccountAsked, sources: SecretSources): Promise<Secrets> {
  const { platform, taken } = asked
  const ready: Record<string, KeptSecret> = { ...taken }
  for (const secret of platform.secrets) {
    const kept = (await namedSecret(ask, asked, { secret, sources })) ?? taken[secret.setting]
    if (kept === undefined) continue
    ready[secret.setting] = kept
    const wrong = secret.mistake(kept.value)
    if (wrong === undefined) continue
    const mistake = `${platform.title}: the ${secret.label} (${sourceOf(kept)}) ${wrong}.`
    if (!ask.isPerson) throw new ParleyError('config', mistake)
    ask.say(mistake)
    delete ready[secret.setting]
  }
  return ready
}

/** Returns the secret that a flag names, else the configuration where nobody is asked, else a variable that is set. */
async function namedSecret(
  ask: Ask,
  { platform, account, given, taken, known, folder }: AccountAsked,
  { secret: { setting, variable }, sources }: { secret: SetupSecret; sources: SecretSources },
): Promise<KeptSecret | undefined> {
  const flag = given.get(setting)
  const file = secretFile(platform.id, account, setting)
  if (flag !== undefined) return await fromSource(flag, { by: `--token ${platform.id}`, file }, sources)
  if (taken[setting] !== undefined) return undefined
  const reference = String(known[setting])
  const [, named] = /^\$\{((?:env|file):[^{}]+)\}$/.exec(reference) ?? []
  if (!ask.isPerson && named !== undefined) {
    const by = `channels.${platform.id}.accounts.${account}.${setting}`
    const { value } = await fromSource(named, { by, file }, { ...sources, cwd: folder })
    return { reference, value }
  }
  const value = sources.env[variable]?.trim()
  if (!value) return undefined
  ask.say(`${platform.title}: ${variable} is set, and is used by reference.`)
  return { reference: `\${env:${variable}}`, value }
}

function sourceOf({ reference, file }: KeptSecret): string {
  return file === undefined ? reference : 'standard input'
}

const MOST_SECRET_BYTES = 16 * 1024

interface Wanted {
  /** The flag or the setting that names the source. */
  readonly by: string
  /** The file in which a secret from standard input is kept. */
  readonly file: string
}

/**
 * Returns the secret that `env:NAME`, `file:PATH` or `-` for standard input names. Throws `invalid` for anything else,
 * and for a source that has none. Nothing of the source is quoted: it is often the secret itself.
 */
export async function fromSource(
  source: string,
  { by, file }: Wanted,
  { env, cwd, stdin }: SecretSources,
): Promise<KeptSecret> {
  const [, kind, name = ''] = /^(env|file):(.+)$/s.exec(source) ?? []
  if (kind === 'env') {
    const value = env[name]?.trim()
    if (!value) throw new ParleyError('invalid', `${by}: that variable is not set; set it, or name another source.`)
    return { reference: `\${env:${name}}`, value }
  }
  if (kind === 'file') {
    const path = resolve(cwd, name)
    return { reference: `\${file:${path}}`, value: secretIn(path, by) }
  }
  if (source !== '-')
    throw new ParleyError(
      'invalid',
      `${by}: a secret on the command line can be read by every user of the machine (ps). Name where it is instead: env:NAME, file:PATH, or - for standard input.`,
    )
  const { bytes } = await readFirstBytes(stdin as AsyncIterable<Uint8Array>, MOST_SECRET_BYTES)
  return { ...inFile(file), value: bytes.toString('utf8').trim() }
}

function secretIn(path: string, by: string): string {
  try {
    return readBounded(path).text.trim()
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'an error'
    const message = `${by}: that file cannot be read (${code}); name another, or make it readable.`
    throw new ParleyError('invalid', message, { cause })
  }
}

/**
 * Throws `invalid` for an address that holds a name or a password: it would stand in the configuration, in the list of
 * processes, and in whatever is said of the server.
 */
export function checkAddress(address: string, by: string): void {
  const wrong = mistakeInAddress(address)
  if (wrong !== undefined) throw new ParleyError('invalid', `${by} ${wrong}.`)
}

/** Returns what is wrong with the address of a server, as the end of a sentence that does not quote it. */
export function mistakeInAddress(address: string): string | undefined {
  const url = parseUrl(address)
  if (url === undefined || !/^https?:$/.test(url.protocol)) return 'is no address that begins with http:// or https://'
  if (url.username + url.password === '') return undefined
  return 'has a name or a password in it, which every user of the machine can read (ps); write the address without'
}

/** Returns the secrets that are not there yet. An account may be configured to use others than the usual ones. */
export function missingSecrets({ platform, known }: AccountAsked, there: Secrets): readonly SetupSecret[] {
  const own = Object.keys(known).filter((name) => /token|secret/i.test(name))
  return platform.secrets.filter(
    ({ setting }) => there[setting] === undefined && (own.length === 0 || own.includes(setting)),
  )
}

/** Asks for the secrets that are not there yet. */
async function enterMissing(ask: Ask, asked: AccountAsked, there: Secrets): Promise<Secrets> {
  const { platform, account } = asked
  const entered: Record<string, KeptSecret> = {}
  for (const secret of missingSecrets(asked, there)) {
    const value = await ask.secret({
      message: `${platform.title}: ${secret.label} (it is not shown)`,
      flag: flagFor(platform, secret),
      mistake: (text) => secret.mistake(text),
    })
    entered[secret.setting] = { ...inFile(secretFile(platform.id, account, secret.setting)), value }
  }
  return entered
}

export function flagFor(platform: SetupPlatform, { setting, variable }: SetupSecret): string {
  const name = platform.secrets.length === 1 ? platform.id : `${platform.id}.${setting}`
  return `--token ${name}=env:${variable}`
}

/** Returns the reference to a file beside the configuration. */
export function inFile(file: string): Pick<KeptSecret, 'file' | 'reference'> {
  return { file, reference: `\${file:${file}}` }
}

/** Returns the name of the file of a secret: `slack-bot-token`, `telegram-work-token`. */
export function secretFile(platform: string, account: string, setting: string): string {
  const words = setting.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  return [platform, ...(account === 'default' ? [] : [account]), words].join('-')
}

function report(ask: Ask, { title, inviteFirst }: SetupPlatform, { identity, findings, invite }: Examination): void {
  if (identity !== undefined) ask.say(`${title}: it is @${identity.username}.`)
  for (const finding of findings)
    if (finding.state === 'warning' || finding.state === 'failed') sayFinding(ask, finding)
  if (invite !== undefined && identity !== undefined)
    ask.say(inviteFirst === undefined ? 'To add it to a group later:' : 'To add it to a server:', `  ${invite}`)
}

/** Prints a finding with its remedy below; one that ends in this command says no more than what to enter. */
function sayFinding(ask: Ask, { state, says, remedy }: Finding): void {
  ask.say(`${state === 'failed' ? 'Wrong' : 'Note'}: ${says}.`)
  if (remedy !== undefined) ask.say(`  -> ${withoutInit(remedy)}`)
}

function withoutInit(remedy: string): string {
  return remedy.replace(/: `parley init`$/, '')
}

type Next = 'use' | 'again' | 'enter'

/** Decides what follows an examination: a refused token is entered again, other failures are the person's to judge. */
async function decide(ask: Ask, { title }: SetupPlatform, { findings }: Examination): Promise<Next> {
  const failed = findings.filter(({ state }) => state === 'failed')
  const refused = failed.find(({ check }) => check === 'token' || check === 'app-token')
  if (refused !== undefined && !ask.isPerson)
    throw new ParleyError('config', `${refused.says}. ${withoutInit(refused.remedy ?? '')}`)
  if (refused !== undefined) return 'enter'
  if (failed.length === 0) return 'use'
  return ask.choose<Next>({
    message: `${title}: how to continue?`,
    flag: 'another --token',
    options: [
      { value: 'again', label: 'Ask again', hint: 'once it is mended' },
      { value: 'enter', label: 'Enter another token' },
      { value: 'use', label: 'Continue with it as it is' },
    ],
    otherwise: 'use',
  })
}
