import { describe } from 'vitest'
import { describePostStore } from '../integration/store/post-store-suite.ts'
import { connectMemory, type MemoryStorage } from './memory-database.ts'

describe('the database in memory', () => {
  const storage: MemoryStorage = new Map()
  describePostStore(async () => connectMemory(storage))
})
