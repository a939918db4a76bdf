import { z } from '@hono/zod-openapi'
import { type AskedWorkplace, FILE_SCOPES, WORKPLACE_LIMITS } from '../../core/workplace.ts'

const text = z.string('must be a text')
const most = (characters: number) => text.max(characters, `must be a text of ${characters} characters at most`)

/** The place in which the user of a client works. Nothing but people and programs reads it (C43). */
export const workplace = z.strictObject(
  {
    workingFolder: most(WORKPLACE_LIMITS.workingFolder).optional(),
    fileScope: z.enum(FILE_SCOPES, `must be ${FILE_SCOPES.join(', ')}`).optional(),
    activeFile: most(WORKPLACE_LIMITS.activeFile).optional(),
    selection: most(WORKPLACE_LIMITS.selection).optional(),
    gitReference: most(WORKPLACE_LIMITS.gitReference).optional(),
  },
  'must be an object',
) satisfies z.ZodType<AskedWorkplace>
