// Run by mongosh: makes the replica set of one member and the user of the service, and changes that user's password when the
// setting was changed. May run again at any time.

const host = process.env.MONGODB_HOST || 'mongodb:27017'
const rootPassword = encodeURIComponent(process.env.MONGODB_ROOT_PASSWORD)
const admin = connect(`mongodb://root:${rootPassword}@${host}/admin?directConnection=true`)

function isInitiated() {
  try {
    return admin.adminCommand({ replSetGetStatus: 1 }).ok === 1
  } catch (error) {
    if (error.codeName === 'NotYetInitialized') return false
    throw error
  }
}

if (!isInitiated()) {
  admin.adminCommand({ replSetInitiate: { _id: 'rs0', members: [{ _id: 0, host }] } })
}
for (let waited = 0; !admin.hello().isWritablePrimary; waited += 1) {
  if (waited === 60) throw new Error('The replica set has no primary after a minute')
  sleep(1000)
}

const database = admin.getSiblingDB('postonce')
const user = { pwd: process.env.MONGODB_PASSWORD, roles: [{ role: 'readWrite', db: 'postonce' }] }
if (database.getUser('postonce') === null) database.createUser({ user: 'postonce', ...user })
else database.updateUser('postonce', user)

print('The replica set and the user of the service are in place')
