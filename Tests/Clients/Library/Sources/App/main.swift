import Rootstock

print(Engine.registered.map(\.name).joined(separator: " "))
