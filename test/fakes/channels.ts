import { catalogue } from '../../adapters/index.ts'
import { traitsOf } from '../../src/config/schema.ts'
import { createChannels } from '../../src/core/channel-traits.ts'

/** The traits of the platforms there are, and the channels made from them. */
export const TRAITS = traitsOf(catalogue)
export const CHANNELS = createChannels(TRAITS)
