import { writeFile } from 'node:fs/promises'
import { VERSION } from '../platform/version.ts'
import { createRoutes } from './app.ts'
import { describeApi } from './document.ts'

// A step of the build: writes the document beside the program, which serves it from there.
const document = describeApi(createRoutes(), VERSION)
await writeFile(new URL('../openapi.json', import.meta.url), `${JSON.stringify(document, undefined, 1)}\n`)
