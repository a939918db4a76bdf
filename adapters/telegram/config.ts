import * as z from 'zod'
import type { ChannelTraits } from '../../src/core/channel-traits.ts'
import { parseUrl } from '../../src/core/parse-url.ts'

/** The platform delivers only to these ports; an own Bot API server delivers to any. */
const PLATFORM_PORTS = ['', '443', '80', '88', '8443']
const PLACEHOLDER =
  /^(?:(?:my|your|the|a|some|telegram|webhook|bot|secret|token|here|test|example|sample|placeholder|default|change|replace|insert|me|this|it|with|random|string|value|password|todo|foo|bar|abc|xyz)[_-]?)+\d{0,3}$|^(.)\1*$|^(?:0?123456789?0?|abcdef|qwerty)\w{0,4}$/i

/**
 * One account under `channels.telegram.accounts`. The numbers under `limits` are the platform's own (Bots FAQ); raise
 * them only for an own Bot API server.
 */
export const telegramAccountSchema = z
  .strictObject({
    /** @BotFather gives it. Files end with a line break, hence the trim. */
    token: z.string().trim().min(1, 'the token is empty; @BotFather gives one').describe('As @BotFather gives it.'),
    apiRoot: z
      .url({ protocol: /^https?$/ })
      .optional()
      .describe('An own Bot API server, such as http://127.0.0.1:8081.'),
    mode: z
      .enum(['polling', 'webhook'])
      .default('polling')
      .describe('webhook needs webhookUrl and webhookSecret, and a reverse proxy before listen.'),
    /** Mode webhook: the public address of the reverse proxy before `listen`. */
    webhookUrl: z
      .string()
      .trim()
      .superRefine((address, context) => {
        const mistake = mistakeIn(address)
        if (mistake !== undefined) context.addIssue({ code: 'custom', message: mistake })
      })
      .describe('Where Telegram reaches this machine: https, port 443, 80, 88 or 8443.')
      .exactOptional(),
    /** Mode webhook: proves that a request is from Telegram. */
    webhookSecret: z
      .string()
      .trim()
      .regex(/^[\w-]{1,256}$/, `must be 1 to 256 of A-Z, a-z, 0-9, _ and -; ${'`openssl rand -hex 32` makes one'}`)
      .refine((secret) => !PLACEHOLDER.test(secret), 'is a placeholder; `openssl rand -hex 32` makes a secret')
      .describe('Proves that a request is from Telegram; `openssl rand -hex 32` makes one.')
      .exactOptional(),
    /** The address that receives updates in mode webhook; a reverse proxy with TLS stands before it. */
    listen: z
      .strictObject({
        host: z.string().min(1).default('127.0.0.1'),
        port: z.int().min(0).max(65_535).default(7277),
        path: z.string().startsWith('/').default('/telegram/webhook'),
      })
      .prefault({})
      .describe('Where updates are received in mode webhook.'),
    /** Shows an answer while it is being written, by edits. */
    streaming: z.boolean().default(true).describe('Shows an answer while it is being written.'),
    limits: z
      .strictObject({
        perSecond: z.number().min(0.01).default(30),
        perChatPerSecond: z.number().min(0.01).default(1),
        perGroupPerMinute: z.number().min(0.01).default(20),
      })
      .prefault({})
      .describe('The most that is sent: over all, in one chat, and in one group.'),
  })
  .refine(({ mode, webhookUrl }) => mode !== 'webhook' || webhookUrl !== undefined, {
    path: ['webhookUrl'],
    error: 'is needed for mode "webhook": the https:// address at which Telegram reaches this machine',
  })
  .refine(({ mode, webhookSecret }) => mode !== 'webhook' || webhookSecret !== undefined, {
    path: ['webhookSecret'],
    error: 'is needed for mode "webhook": without it anybody could speak as anybody; `openssl rand -hex 32` makes one',
  })
  .refine(({ webhookUrl, apiRoot }) => apiRoot !== undefined || hasPlatformPort(webhookUrl), {
    path: ['webhookUrl'],
    error: 'Telegram delivers to the ports 443, 80, 88 and 8443 alone; an own Bot API server (apiRoot) to any',
  })
  .refine(
    ({ token, webhookSecret, webhookUrl = '', listen }) => !shows(`${webhookUrl} ${listen.path}`, token, webhookSecret),
    {
      path: ['webhookUrl'],
      error:
        'must carry neither the token nor the secret, here or in listen.path: addresses stand in the logs of proxies',
    },
  )

function mistakeIn(address: string): string | undefined {
  const url = parseUrl(address)
  if (url === undefined) return 'must be an address that begins with https://'
  const { protocol, hostname, username, password } = url
  if (username !== '' || password !== '') return 'must carry no user name or password; webhookSecret is the proof'
  if (protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))) return undefined
  return 'must begin with https://: over http:// everybody on the way could read messages and secret, so that it is taken for this machine alone'
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host)
}

function hasPlatformPort(address: string | undefined): boolean {
  if (address === undefined || !address.startsWith('https://')) return true
  return PLATFORM_PORTS.includes(new URL(address).port)
}

function shows(text: string, ...secrets: (string | undefined)[]): boolean {
  const forms = secrets.flatMap((secret) => (secret === undefined ? [] : [secret, encodeURIComponent(secret)]))
  return forms.some((form) => form.length >= 8 && text.includes(form))
}

export type TelegramConfig = z.infer<typeof telegramAccountSchema>

/** Says how an account receives; the path of an address may be a secret of its proxy. */
export function receivesBy({ mode, webhookUrl, listen: { host, port } }: TelegramConfig): string {
  if (mode === 'polling' || webhookUrl === undefined) return 'by polling'
  return `by webhook at ${new URL(webhookUrl).host}, taken at ${host}:${port}`
}

/**
 * Topics of a forum are rooms beside each other; the anonymous admin, the service account and "Channel" are
 * everybody's.
 */
export const telegramTraits: ChannelTraits = {
  name: 'Telegram',
  topics: 'rooms',
  ids: {
    caseSensitive: false,
    ofTeams: false,
    form: /^-?[1-9]\d*$/,
    formInWords: 'is a number',
    groupForm: /^-[1-9]\d*$/,
    // A small group; the id of a supergroup has thirteen digits.
    ownNumbers: /^-\d{1,12}$/,
    shared: ['1087968824', '777000', '136817688'],
    directChatIsPerson: true,
    examples: [],
  },
  // The limits of the public Bot API server; captions have 1,024 characters.
  files: {
    mostBytes: 50_000_000,
    pictures: { mostBytes: 10_000_000, types: ['image/jpeg', 'image/png', 'image/webp'] },
    voices: ['audio/ogg'],
  },
  listensIn: 'webhook',
  token: /^\d+:[\w-]+$/,
  variables: [{ setting: 'token', variable: 'TELEGRAM_BOT_TOKEN' }],
  firstSteps: 'send /newbot to @BotFather in Telegram, and start with the token it gives',
  claimLink: 'https://t.me/<username>?start=<code>',
}
