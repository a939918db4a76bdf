import { dirname, join } from 'node:path'
import type { ConfigDraft } from '../../config/draft.ts'
import { ParleyError } from '../../core/errors.ts'
import type { SetupPlatform } from '../ports.ts'
import { type Ask, nobodyAsked } from './ask.ts'
import {
  type AccountAsked,
  type AccountSetUp,
  checkAddress,
  flagFor,
  type KeptSecret,
  missingSecrets,
  readySecrets,
  type SecretSources,
  type Secrets,
  setUpAccount,
} from './set-up-account.ts'
import { replaceFile } from './write-setup.ts'

export interface PlatformFlags {
  /** Names of platforms, with commas between. */
  readonly platform?: readonly string[]
  /** `<platform>=<source>`, or `<platform>.<setting>=<source>`. */
  readonly token?: readonly string[]
  /** `<platform>=<address>`. */
  readonly apiRoot?: readonly string[]
}

export interface PlatformsAsked {
  readonly platforms: readonly SetupPlatform[]
  /** The configuration as it is so far. */
  readonly draft: ConfigDraft
  readonly flags: PlatformFlags
  /** A daemon of this configuration runs now. */
  readonly running: boolean
  /** The configuration, beside which manifests are written. */
  readonly file: string
  /** The secrets that another program had, by the paths of their settings. */
  readonly taken: ReadonlyMap<string, KeptSecret>
  readonly sources: SecretSources
  now(): number
  /** Called with the path of each manifest that was written. */
  wrote(path: string): void
}

/** Has platforms chosen, and sets up an account of each. */
export async function setUpAccounts(ask: Ask, asked: PlatformsAsked): Promise<readonly AccountSetUp[]> {
  const chosen = await choosePlatforms(ask, asked)
  // A flag that is wrong is reported before anything is asked.
  const wanted = asked.platforms.filter(({ id }) => chosen.includes(id)).map((platform) => accountOf(platform, asked))
  const all: { readonly one: AccountAsked; readonly ready: Secrets }[] = []
  for (const one of wanted) all.push({ one, ready: await readySecrets(ask, one, asked.sources) })
  const flags = all.flatMap(({ one, ready }) =>
    missingSecrets(one, ready).map((secret) => flagFor(one.platform, secret)),
  )
  if (flags.length > 0 && !ask.isPerson) throw nobodyAsked(flags)
  const done: AccountSetUp[] = []
  for (const { one, ready } of all) {
    if (missingSecrets(one, ready).length > 0) await writeManifest(ask, one.platform, asked)
    done.push(await setUpAccount(ask, one, ready))
  }
  return done
}

function accountOf(platform: SetupPlatform, asked: PlatformsAsked): AccountAsked {
  const accounts = accountsIn(asked.draft, platform.id)
  const [account = 'default'] = Object.keys(accounts)
  const known = isTree(accounts[account]) ? accounts[account] : {}
  const beside = asked.running && account in accounts
  const [given, taken] = [flagsFor(platform, asked.flags), takenFor(asked, platform, account)]
  return { platform, account, known, folder: dirname(asked.file), given, beside, taken }
}

async function choosePlatforms(ask: Ask, asked: PlatformsAsked): Promise<readonly string[]> {
  const { platforms, flags, draft, sources } = asked
  const named = namedPlatforms(asked)
  if (named.length > 0) return named
  const taken = platforms.filter(({ id }) => [...asked.taken.keys()].some((path) => path.startsWith(`channels.${id}.`)))
  if (taken.length > 0) return taken.map(({ id }) => id)
  const isThere = ({ id }: SetupPlatform) => Object.keys(accountsIn(draft, id)).length > 0
  const hasVariables = ({ secrets }: SetupPlatform) => secrets.every(({ variable }) => sources.env[variable]?.trim())
  const hasToken = ({ id }: SetupPlatform) => flags.token?.some((flag) => platformOf(flag) === id) ?? false
  const none = !platforms.some(isThere)
  return ask.chooseSome({
    message: none ? 'Which platforms?' : 'Which platforms do you want to add, or to give another token?',
    flag: platforms.slice(0, 1).map(flagsOf).join(),
    options: platforms.map((platform) => ({
      value: platform.id,
      label: platform.title,
      ...(isThere(platform) ? { hint: 'is there' } : {}),
    })),
    chosen: platforms.filter((one) => hasToken(one) || (hasVariables(one) && !isThere(one))).map(({ id }) => id),
    required: none,
  })
}

/** Returns the platforms that `--platform` names. Throws `invalid` for a name, in any flag, that is none. */
function namedPlatforms({ platforms, flags }: PlatformsAsked): readonly string[] {
  const { token = [], apiRoot = [], platform = [] } = flags
  const named = platform.flatMap((names) => names.split(',')).map((name) => name.trim().toLowerCase())
  const isNone = (name: string) => !platforms.some(({ id }) => id === name)
  const known = platforms.map(({ id }) => id).join(', ')
  const wrong = named.find(isNone)
  if (wrong !== undefined) {
    // A longer word, or one with other characters, may be the token itself.
    const word = /^[a-z]{1,20}$/.test(wrong) ? wrong : 'of that name'
    throw new ParleyError('invalid', `There is no platform ${word}: it is one of ${known}.`)
  }
  // It is not quoted: it may be the token itself.
  for (const [flag, values, example] of [
    ['--token', token, 'env:NAME'],
    ['--api-root', apiRoot, 'https://...'],
  ] as const)
    if (values.map(platformOf).some(isNone))
      throw new ParleyError(
        'invalid',
        `${flag} begins with its platform, as in ${flag} ${platforms[0]?.id}=${example}; it is one of ${known}.`,
      )
  return named
}

function platformOf(flag: string): string {
  return flag.split(/[.=]/, 1)[0] ?? ''
}

/** Returns the flags that name a platform and its secrets. */
function flagsOf(platform: SetupPlatform): string {
  return [`--platform ${platform.id}`, ...platform.secrets.map((secret) => flagFor(platform, secret))].join(' ')
}

function takenFor({ taken }: PlatformsAsked, { id, secrets }: SetupPlatform, account: string): Secrets {
  const found = secrets.map(
    ({ setting }) => [setting, taken.get(`channels.${id}.accounts.${account}.${setting}`)] as const,
  )
  return Object.fromEntries(found.flatMap(([setting, secret]) => (secret === undefined ? [] : [[setting, secret]])))
}

function accountsIn({ document }: ConfigDraft, channel: string): Readonly<Record<string, unknown>> {
  const tree: unknown = document.toJS()
  const channels = isTree(tree) && isTree(tree.channels) ? tree.channels : {}
  const block = channels[channel]
  return isTree(block) && isTree(block.accounts) ? block.accounts : {}
}

/** Returns the flags for a platform, by the setting that each is for. Throws `invalid` for one that is for none. */
function flagsFor({ id, secrets }: SetupPlatform, { token = [], apiRoot = [] }: PlatformFlags): Map<string, string> {
  const given = new Map<string, string>()
  const settings = secrets.map(({ setting }) => setting)
  for (const flag of token.filter((one) => platformOf(one) === id)) {
    const [name = ''] = flag.split('=', 1)
    const setting = name.slice(id.length + 1) || (settings.length === 1 ? settings[0] : undefined)
    if (setting === undefined || !settings.includes(setting) || !flag.includes('='))
      throw new ParleyError(
        'invalid',
        `--token for ${id} is written ${settings.map((one) => `--token ${settings.length === 1 ? id : `${id}.${one}`}=env:NAME`).join(' ')}.`,
      )
    given.set(setting, flag.slice(name.length + 1))
  }
  for (const flag of apiRoot.filter((one) => platformOf(one) === id)) {
    const address = flag.slice(id.length + 1)
    checkAddress(address, `--api-root ${id}=...`)
    given.set('apiRoot', address)
  }
  return given
}

/** Writes the file by which the platform makes the app, before its steps name it. */
async function writeManifest(ask: Ask, { title, manifest }: SetupPlatform, asked: PlatformsAsked): Promise<void> {
  if (manifest === undefined) return
  const path = join(dirname(asked.file), manifest.fileName)
  const { copy } = await replaceFile(path, manifest.text, { now: asked.now(), near: asked.file })
  asked.wrote(path)
  ask.say('', `${title} makes the app from a text, its manifest, with exactly what Parley uses:`, `  ${path}`)
  ask.say(`Show it in another window, with cat or an editor, and copy all of it: ${manifest.use}.`)
  if (copy !== undefined) ask.say(`The old one is ${copy}.`)
}

function isTree(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
