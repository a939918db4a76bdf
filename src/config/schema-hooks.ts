import * as z from 'zod'
import { HOOK_MOMENTS } from '../core/hook.ts'
import { address, text, url } from './schema-parts.ts'

const NAME = /^[a-z][a-z0-9-]{0,31}$/
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/

const moment = z.enum(HOOK_MOMENTS)
const named = (form: RegExp, error: string) => z.string().refine((name) => form.test(name), { error })

const hook = z.strictObject({
  on: z
    .union([moment, z.array(moment).min(1)])
    .describe(
      'before_save and before_tool are asked. before_save: for the text of a message, of a file or a recording, and for what is enclosed, such as a contact; with the answer {"text": "…"} that is stored and shown instead. before_tool: for a call; the answer {"deny": "reason"} refuses it. The others are told, after the commit.',
    ),
  command: text.exactOptional().describe('A program; it gets the call as JSON on its standard input.'),
  args: z.array(z.string()).exactOptional(),
  env: z
    .record(named(VARIABLE, 'must be the name of a variable'), z.string())
    .exactOptional()
    .describe('Variables of its environment; besides these it gets PATH, HOME, LOGNAME, USER, SHELL, TERM, LANG, TZ.'),
  folder: text
    .exactOptional()
    .describe('The folder it is started in, relative to this file; default: that of this file.'),
  url: url.exactOptional().describe('Instead of a command: an address that gets the call by POST, as JSON.'),
  secret: text
    .exactOptional()
    .describe('For url: makes the signature, x-parley-signature: t=<ms>,v1=<HMAC-SHA256 of "<ms>.<body>">.'),
  timeoutMs: z
    .int()
    .min(50)
    .max(60_000)
    .default(2_000)
    .describe('The longest that one call may take; then it counts as not answered, and everything goes on.'),
})

/** The operator's hooks, by name. */
export const hooks = z
  .record(named(NAME, 'must be a name of a-z 0-9 -, at most 32'), hook)
  .default({})
  .describe('Programs or addresses that are called when something happens. None can break what it is called for.')

const SECRET = 16

const inboundHook = z.strictObject({
  secret: text
    .min(SECRET, { error: `must have at least ${SECRET} characters; "openssl rand -hex 32" makes one` })
    .describe(`Makes the signature, by which a call is known. At least ${SECRET} characters.`),
  signature: z
    .enum(['parley', 'github'])
    .default('parley')
    .describe(
      'parley: x-parley-timestamp, ms or seconds since 1970, and x-parley-signature, v1=<HMAC-SHA256 of "<timestamp>.<body>", hex>, besides a token of the scope hooks. github: x-hub-signature-256, as GitHub sends it, without a token.',
    ),
  agent: text.exactOptional().describe('The agent that reads the calls; the default one if absent.'),
  prompt: text.exactOptional().describe('What the agent is to do with a call. The call itself is data for it.'),
  deliverTo: address
    .exactOptional()
    .describe('Where the answer is posted; without it, it is only in the session of the call.'),
  sessions: z
    .array(text)
    .default([])
    .describe('Sessions that a call may name by ?session= to go there; any other call has a session of its own.'),
})

/** The hooks by which programs of others call in, by name. */
export const inboundHooks = z
  .record(named(NAME, 'must be a name of a-z 0-9 -, at most 32'), inboundHook)
  .default({})
  .describe("What other programs may call, each at /v1/hooks/<name>. What they send is data, and nobody's words.")
