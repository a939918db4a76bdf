import { dirname, join } from 'node:path'
import type { ConfigDraft } from '../../config/draft.ts'
import { ParleyError } from '../../core/errors.ts'
import type { SetupPlatform } from '../ports.ts'
import type { Ask } from './ask.ts'
import {
  type AccountSetUp,
  checkAddress,
  type KeptSecret,
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
}

/** Has platforms chosen, and sets up an account of each. */
export async function setUpAccounts(ask: Ask, asked: PlatformsAsked): Promise<readonly AccountSetUp[]> {
  const { platforms, draft, flags, running, sources } = asked
  const chosen = await choosePlatforms(ask, asked)
  const done: AccountSetUp[] = []
  // A flag that is wrong is reported before anything is asked.
  const wanted = platforms
    .filter(({ id }) => chosen.includes(id))
    .map((platform) => ({ platform, given: flagsFor(platform, flags) }))
  for (const { platform, given } of wanted) {
    const known = accountsIn(draft, platform.id)
    const [account = 'default'] = Object.keys(known)
    const own = isTree(known[account]) ? known[account] : {}
    if (ask.isPerson && asked.taken.size === 0) await writeManifest(ask, platform, asked)
    const beside = running && account in known
    const taken = takenFor(asked, platform, account)
    done.push(
      await setUpAccount(
        ask,
        { platform, account, known: own, folder: dirname(asked.file), given, beside, taken },
        sources,
      ),
    )
  }
  return done
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
    flag: `--platform ${platforms[0]?.id}`,
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
  if (wrong !== undefined) throw new ParleyError('invalid', `There is no platform ${wrong}: it is one of ${known}.`)
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
  ask.say('', `The manifest of the ${title} app, with exactly what Parley uses: ${path}`, manifest.use)
  if (copy !== undefined) ask.say(`The old one is ${copy}.`)
}

function isTree(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
