import { join } from 'node:path'
import { EXIT, errorCode } from '../../src/core/errors.ts'
import { armFailpoints } from '../../src/core/failpoint.ts'
import type { StoreForm } from '../../src/core/store-conversion.ts'
import { StoreKey } from '../../src/core/store-key.ts'
import { convertMedia } from '../../src/media/convert-media.ts'
import { convertStore } from '../../src/store/engines/convert-store.ts'
import { veiling } from './veiling.ts'

/** The process that converts a store and is killed at a point: `<folder> <form> <key> <failpoint> [veiling]`. */
const [folder = '', to = '', hex = '', point = '', by = ''] = process.argv.slice(2)
const key = new StoreKey(hex)

armFailpoints((reached) => {
  if (reached !== point) return
  process.kill(process.pid, 'SIGKILL')
  throw new Error('still alive')
})

const form = to as StoreForm
try {
  await convertStore({
    ...{ path: join(folder, 'parley.db'), key, to: form },
    async beside() {
      await convertMedia({ folder: join(folder, 'media'), key, to: form })
    },
    ...(by === 'veiling' ? { recode: veiling } : {}),
  })
} catch (error) {
  const code = errorCode(error)
  if (code !== 'config' && code !== 'unavailable') throw error
  process.exitCode = code === 'config' ? EXIT.config : EXIT.failed
}
