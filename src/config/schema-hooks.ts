import * as z from 'zod'
import { HOOK_MOMENTS } from '../core/hook.ts'
import { text, url } from './schema-parts.ts'

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
