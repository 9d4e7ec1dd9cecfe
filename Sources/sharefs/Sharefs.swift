@main struct Sharefs { static func main() {} }
